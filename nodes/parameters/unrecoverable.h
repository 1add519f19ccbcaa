#pragma once
// An Error::failed that no restart of its node mends, nor can the others go on without what failed. The node that gets
// it ends the program by Context::fail_program. A value; any thread.

#include <string>

#include "lp/base/error.h"

namespace lp {

class Unrecoverable : public Error {
 public:
  explicit Unrecoverable(const std::string& text) : Error(ErrorKind::failed, text) {}
};

}  // namespace lp

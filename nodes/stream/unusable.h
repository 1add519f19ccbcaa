#pragma once
// An Error::failed about what a user named, such as inputs, results or a checkpoint: no restart mends it, so the node
// that gets it ends the program by Context::fail_program. A value; any thread.

#include <string>

#include "lp/base/error.h"

namespace lp::dataflow {

class Unusable : public Error {
 public:
  explicit Unusable(const std::string& text) : Error(ErrorKind::failed, text) {}
};

}  // namespace lp::dataflow

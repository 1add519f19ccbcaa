#pragma once
// Takes the lines of JSON of a view that goes on, and hands them to its reader. Its maker owns it. One thread writes;
// the reader may leave at any time.

#include <string>

#include "lp/base/scheduler.h"

namespace lp::tool {

class LineSink {
 public:
  virtual ~LineSink() = default;
  // Returns false when the reader has left. An empty line only asks that.
  virtual bool write(std::string line) = 0;
  // Waits for the duration, or until the reader has left. Returns false when he has.
  virtual bool wait(Duration duration) = 0;
};

}  // namespace lp::tool

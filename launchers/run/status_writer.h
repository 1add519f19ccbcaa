#pragma once
// Writes the status of a run into its directory when it has changed, at most as often as that is cheap.
//
// The run owns it; its loop thread uses it.

#include "lp/base/function.h"
#include "lp/base/scheduler.h"

namespace lp::internal {

class StatusWriter {
 public:
  void changed() { changed_ = true; }
  bool has_changed() const { return changed_; }
  // When write() is due.
  Time next() const { return changed_ ? next_ : kNever; }
  // Calls `write` if the status has changed and it is due, or `always`.
  void write(bool always, Function<void()> write);

 private:
  bool changed_ = true;  // the status has changed since it was written
  Time next_{};
};

}  // namespace lp::internal

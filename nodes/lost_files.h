#pragma once
// The files that could not be written at the end of some work, whose result counts nevertheless. A value; one thread.

#include <string>
#include <utility>

#include "lp/base/error.h"

namespace lp {

class LostFiles {
 public:
  // Calls `write`. If it throws Error, text() names the file and the reason.
  template <class Write>
  void keep(const std::string& name, Write write) {
    try {
      write();
    } catch (const Error& error) {
      text_ += (text_.empty() ? "" : "; ") + name + " could not be saved: " + error.what();
    }
  }
  const std::string& text() const { return text_; }  // empty: all were written

 private:
  std::string text_{};
};

}  // namespace lp

#pragma once
// How the lp command ends: its exit codes, which scripts rely on, and the exception that ends it early.

#include <exception>
#include <string>
#include <utility>

namespace lp::tool {

// Documented in README.md and lp.1.
enum class Exit {
  done = 0,
  failed = 1,     // what was asked could not be done; or the run that was watched has failed
  usage = 2,      // the command line is wrong
  unknown = 3,    // no such run or node, or several fit
  not_live = 4,   // the run has ended, or cannot be reached, and the command needs a live one
  timed_out = 5,  // what was asked has not happened in time
};

class Refusal : public std::exception {
 public:
  Refusal(Exit code, std::string text) : code_(code), text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }
  Exit code() const noexcept { return code_; }

 private:
  Exit code_;
  std::string text_;
};

}  // namespace lp::tool

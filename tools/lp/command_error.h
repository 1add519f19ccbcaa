#pragma once
// The exit codes of the lp command, on which scripts rely, and the exception that ends it early.

#include <exception>
#include <string>
#include <utility>

namespace lp::tool {

// README.md and lp.1 document them.
enum class Exit {
  done = 0,
  failed = 1,     // the request failed; or the watched run has failed
  usage = 2,      // the command line is wrong
  unknown = 3,    // no such run or node, or several match
  not_live = 4,   // the run has ended or is unreachable, and the command needs a live one
  timed_out = 5,  // the requested effect did not come in time
};

class CommandError : public std::exception {
 public:
  CommandError(Exit code, std::string text) : code_(code), text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }
  Exit code() const noexcept { return code_; }

 private:
  Exit code_;
  std::string text_;
};

}  // namespace lp::tool

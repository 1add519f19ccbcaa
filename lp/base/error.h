#pragma once
// The one exception type of lp. Its kind says what the caller may do about it; its text says what was wrong, where, and
// what to do. An Error is a value: it copies, and it travels in replies.

#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace lp {

enum class ErrorKind : std::uint8_t {
  failed,         // a bug or a bad input: trying again will fail again
  overloaded,     // no room: try again, later
  disconnected,   // the other side is gone; see may_have_run
  unimplemented,  // the other side has no such method: another build?
  deadline,       // no answer in time
  stopped,        // the program is shutting down, or the call was cancelled: return
};

std::string_view to_string(ErrorKind kind);

// What is known of an error, beside its kind and text. Everything is optional.
struct ErrorOrigin {
  std::string type{};               // the exception's type where it was thrown: "std::invalid_argument"
  std::string node{};               // the node that failed: "server/0"
  std::string method{};             // the method that failed: "push"
  std::vector<std::string> path{};  // the nodes that the call came through, outermost first
  bool may_have_run = false;        // disconnected and deadline: the method may have taken effect
};

class Error : public std::runtime_error {
 public:
  using Kind = ErrorKind;

  Error(ErrorKind kind, std::string text, ErrorOrigin origin = {});

  ErrorKind kind() const noexcept { return kind_; }
  const std::string& text() const noexcept { return text_; }  // without the place; what() has both
  const ErrorOrigin& origin() const noexcept { return origin_; }
  const std::string& node() const noexcept { return origin_.node; }
  const std::string& method() const noexcept { return origin_.method; }
  const std::vector<std::string>& path() const noexcept { return origin_.path; }
  bool may_have_run() const noexcept { return origin_.may_have_run; }

 private:
  ErrorKind kind_;
  std::string text_;
  ErrorOrigin origin_;
};

// The Error that stands for any exception: itself if it is one, else `failed` with the exception's type and text.
Error as_error(std::exception_ptr exception);

// "app::Thing" for a mangled name, as typeid(x).name() gives it.
std::string readable_type(const char* mangled);

}  // namespace lp

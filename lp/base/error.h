#pragma once
// The one exception type of lp. Its kind implies what the caller may do about it. Its text names what was wrong, where,
// and what to do. An Error is a value: it copies, and it travels in replies.

#include <cstdint>
#include <exception>
#include <memory>
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

// Facts that are known about an error, beside its kind and text. Every field is optional.
struct ErrorOrigin {
  std::string type{};               // the exception's type where it was thrown: "std::invalid_argument"
  std::string node{};               // the node that failed: "server/0"
  std::string method{};             // the method that failed: "push"
  std::vector<std::string> path{};  // the nodes through which the call came, outermost first
  bool may_have_run = false;        // the call began, so its method may have taken effect
};

class Error : public std::exception {
 public:
  static constexpr std::size_t kLongestText = std::size_t{1} << 16;  // bytes

  // A text that is longer than kLongestText is cut off.
  Error(ErrorKind kind, std::string text, ErrorOrigin origin = {});
  Error(const Error&) = default;  // moves copy too: an Error is never empty
  Error& operator=(const Error&) = default;

  const char* what() const noexcept override { return parts_->what.c_str(); }  // the text and the place
  ErrorKind kind() const noexcept { return parts_->kind; }
  const std::string& text() const noexcept { return parts_->text; }  // without the place
  const ErrorOrigin& origin() const noexcept { return parts_->origin; }
  const std::string& node() const noexcept { return origin().node; }
  const std::string& method() const noexcept { return origin().method; }
  const std::vector<std::string>& path() const noexcept { return origin().path; }
  bool may_have_run() const noexcept { return origin().may_have_run; }

 private:
  struct Parts {
    ErrorKind kind;
    std::string text;
    ErrorOrigin origin;
    std::string what;
  };
  std::shared_ptr<const Parts> parts_;  // shared by copies, which threads pass on to each other
};

// Throws an Error of the kind `failed`.
[[noreturn]] void throw_failed(std::string text);

// Returns the Error that stands for any exception: the exception itself if it is one, otherwise `failed` with its type
// and text.
Error as_error(std::exception_ptr exception);

// Returns "app::Thing" for a mangled name, as typeid(x).name() gives it.
std::string readable_type(const char* mangled);

}  // namespace lp

#include "tools/lp/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "launchers/record/node_output.h"
#include "launchers/record/run_directory.h"
#include "lp/base/error.h"
#include "lp/base/file.h"

namespace lp::tool {
namespace {

winsize window() {
  winsize size{};
  ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
  return size;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Screen::Screen()
    : terminal_(isatty(STDOUT_FILENO) == 1),
      colours_(terminal_ && variable("NO_COLOR").empty() && variable("TERM") != "dumb") {}

std::size_t Screen::width() const {
  constexpr std::size_t kUsual = 80;
  if (const int columns = std::atoi(variable("COLUMNS").c_str()); columns > 0) return static_cast<std::size_t>(columns);
  if (!terminal_) return 0;
  return window().ws_col > 0 ? window().ws_col : kUsual;
}

std::size_t Screen::height() const {
  constexpr std::size_t kUsual = 24;
  if (!terminal_) return 0;
  return window().ws_row > 0 ? window().ws_row : kUsual;
}

bool Screen::write(std::string_view text) {
  if (write_all(STDOUT_FILENO, text)) return true;
  if (errno == EPIPE) return false;
  throw Error(ErrorKind::failed,
              "cannot write to standard output: " + std::error_code(errno, std::generic_category()).message());
}

bool Screen::draw(const std::string& text) {
  if (!terminal_) return write(text);
  std::string picture = drawn_ == 0 ? "" : "\033[" + std::to_string(drawn_) + "A\r\033[J";
  const std::size_t room = height() - std::min<std::size_t>(height(), 2);
  std::size_t lines = 0;
  std::size_t at = 0;
  for (; at < text.size() && lines < room; ++lines) at = std::min(text.find('\n', at), text.size() - 1) + 1;
  picture += text.substr(0, at);
  if (at < text.size()) {
    picture += "... and " +
               std::to_string(std::count(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), '\n')) +
               " lines more\n";
    ++lines;
  }
  drawn_ = lines;
  return write(picture);
}

std::string Screen::clean(std::string_view text) { return launch::printable_word(text); }

}  // namespace lp::tool

#pragma once
// What standard output is: how wide, whether it takes colours; and a picture that is drawn again and again in its
// place. Used by one thread.

#include <cstddef>
#include <string>
#include <string_view>

namespace lp::tool {

class Screen {
 public:
  Screen();

  bool is_terminal() const { return terminal_; }
  // A terminal takes colours unless NO_COLOR or TERM=dumb says otherwise.
  bool colours() const { return colours_; }
  // COLUMNS, or the terminal's; 0: it is none, and lines may have any length.
  std::size_t width() const;
  std::size_t height() const;  // 0: no terminal

  // Writes all of it to standard output. False when nobody reads it any more.
  bool write(std::string_view text);
  // On a terminal: replaces what was drawn before, and cuts what is too high for it. Elsewhere: the same as write.
  bool draw(const std::string& text);

  // Text that was made elsewhere as it may be shown: without control characters, on one line.
  static std::string clean(std::string_view text);

 private:
  bool terminal_;
  bool colours_;
  std::size_t drawn_ = 0;  // lines
};

}  // namespace lp::tool

#pragma once
// Standard output: its width, its colours, and a picture that is redrawn in place. One thread uses it.

#include <cstddef>
#include <string>
#include <string_view>

namespace lp::tool {

class Screen {
 public:
  Screen();

  bool is_terminal() const { return terminal_; }
  // A terminal has colours unless NO_COLOR or TERM=dumb disables them.
  bool colours() const { return colours_; }
  // COLUMNS, or the terminal's width; 0: there is no terminal, and lines may have any length.
  std::size_t width() const;
  std::size_t height() const;  // 0: no terminal

  // Writes the whole text to standard output. Returns false when the reader has closed it. Throws Error(failed)
  // when it cannot be written, because the disk is full for instance.
  bool write(std::string_view text);
  // On a terminal, replaces the earlier picture, and cuts one that is too high. Elsewhere it does the same as write.
  bool draw(const std::string& text);

  // Makes text of other programs safe to show: without control characters, on one line.
  static std::string clean(std::string_view text);

 private:
  bool terminal_;
  bool colours_;
  std::size_t drawn_ = 0;  // in lines
};

}  // namespace lp::tool

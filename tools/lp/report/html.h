#pragma once
// The parts of a page in HTML. Texts are escaped here and nowhere else; a std::string that is called `html` is markup
// already. Pure functions.

#include <string>
#include <string_view>
#include <vector>

namespace lp::tool {

std::string html_text(std::string_view text);
// A text of several lines.
std::string html_lines(std::string_view text);
// "<p>TEXT</p>", and a headline.
std::string html_paragraph(std::string_view text, std::string_view kind = {});
std::string html_headline(std::string_view text);

// A table. Columns of numbers are on the right.
class HtmlTable {
 public:
  struct Column {
    std::string title{};
    bool number = false;
  };
  explicit HtmlTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void add(const std::vector<std::string>& texts);
  // The cell at `column` of the last row is this markup.
  void set_html(std::size_t column, std::string html) { rows_.back()[column] = std::move(html); }
  bool empty() const { return rows_.empty(); }
  std::string html() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;  // markup
};

}  // namespace lp::tool

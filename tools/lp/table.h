#pragma once
// A table of text that fits the available width. Columns that may shrink are cut, with a mark where text is missing. A
// value.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lp::tool {

enum class Cut { never, end, middle };  // where a cell that is too long loses characters

struct Column {
  std::string title;
  Cut cut = Cut::never;
  bool right = false;  // aligned to the right, for numbers
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Adds a line with a cell for each column. `colour` is the SGR code of the whole line, "31"; empty: none.
  void add(std::vector<std::string> cells, std::string colour = {});
  std::size_t size() const { return rows_.size(); }

  // The lines with their ends. No line is wider than `width` columns of the terminal (0: as wide as needed), if the
  // columns that are never cut leave room. `colours`: the terminal has colours.
  std::string text(std::size_t width, bool colours) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    std::string colour;
  };
  std::vector<std::size_t> widths(std::size_t width) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

// The number of terminal columns of a UTF-8 text in which every character takes one column.
std::size_t columns_of(std::string_view text);
// The text in lines of at most `columns` columns, which end between words where they can.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);
// At most `columns` columns of the text, with an ellipsis where something is missing.
std::string shortened(const std::string& text, std::size_t columns, Cut cut = Cut::end);

}  // namespace lp::tool

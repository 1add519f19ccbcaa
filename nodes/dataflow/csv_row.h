#pragma once
// A row of CSV, as RFC 4180 has it, split into fields. The fields are views into the record; a field with doubled
// quotes is copied. Owned by a task, and parsed again for each record; one thread.

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace lp {

class CsvRow {
 public:
  explicit CsvRow(char separator = ',') : separator_(separator) {}

  // Splits a record, which stays where it is as long as the fields are used. Error::failed when a field begins with a
  // quote that is not closed before the next separator.
  void parse(std::string_view record);

  std::size_t size() const { return fields_.size(); }
  // Error::failed when the row has another number of columns.
  void expect(std::size_t columns) const;
  // The field, without its quotes. Error::failed, with the number of columns, when there is none.
  std::string_view operator[](std::size_t column) const {
    if (column >= fields_.size()) no_column(column);
    return fields_[column];
  }
  // The field as a number. Error::failed, with its text, when it is none.
  double number(std::size_t column) const;

 private:
  [[noreturn]] void no_column(std::size_t column) const;
  std::size_t quoted(std::string_view record, std::size_t at);

  const char separator_;
  std::vector<std::string_view> fields_{};
  std::deque<std::string> copies_{};  // fields with doubled quotes; they keep their places
  std::size_t copied_ = 0;
};

namespace dataflow {

// The position of the line end that ends the row, or the text's size when the row continues behind it. The search
// begins at `from`, where `open` is true if it is within quotes; it is left as it is at the end of the text.
std::size_t row_end(std::string_view text, std::size_t from, bool& open);

}  // namespace dataflow
}  // namespace lp

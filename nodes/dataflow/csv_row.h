#pragma once
// A row of CSV, as RFC 4180 has it, split into fields. The fields are views into the record; a field with doubled
// quotes is copied. Owned by a task, and parsed again for each record; one thread.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lp {

class CsvRow {
 public:
  explicit CsvRow(char separator = ',') : separator_(separator) {}

  // Splits a record, which stays where it is as long as the fields are used. Error::failed when a field begins with a
  // quote that is not closed before the next separator, or has a quote or a carriage return inside without being in
  // quotes.
  void parse(std::string_view record);

  std::size_t size() const { return fields_.size(); }
  // Error::failed when the row has another number of columns.
  void expect(std::size_t columns) const;
  // The field, without its quotes. Error::failed, with the number of columns, when there is none.
  std::string_view operator[](std::size_t column) const {
    if (column >= fields_.size()) no_column(column);
    return fields_[column];
  }
  // The field as a number in decimal digits, or "inf". Error::failed, with its text, when it is none, such as "nan", or
  // beyond a double.
  double number(std::size_t column) const;

 private:
  [[noreturn]] void no_column(std::size_t column) const;
  static void check_plain(std::string_view field);
  std::size_t quoted(std::string_view record, std::size_t at);

  const char separator_;
  std::vector<std::string_view> fields_{};
  std::deque<std::string> copies_{};  // fields with doubled quotes; they keep their places
  std::size_t copied_ = 0;
};

namespace dataflow {

// Finds the ends of rows in a text that comes in pieces. Only a quote at the begin of a field opens a quoted field, in
// which line ends do not count. So a stray quote spoils its own row alone. Owned by a reader; one thread.
class CsvScanner {
 public:
  // The first piece begins at `offset` in its file, where a row begins.
  CsvScanner(char separator, std::uint64_t offset) : separator_(separator), at_(offset) {}

  // Returns the position of the line end that ends the row, or the text's size when the row continues behind it. The
  // text before `from` was scanned.
  std::size_t row_end(std::string_view text, std::size_t from) { return scan(text, from, true); }
  // Scans a piece, whatever rows end in it.
  void pass(std::string_view text) { scan(text, 0, false); }

  // The offset in the file of the quote that has opened a field which was not closed so far.
  std::optional<std::uint64_t> open_since() const {
    return state_ == State::quoted ? std::optional(opened_) : std::nullopt;
  }

 private:
  enum class State : std::uint8_t {
    begin,   // where a field begins
    plain,   // within a field that is not in quotes
    quoted,  // within a field in quotes
    quote,   // after a quote in such a field, which ends it or is doubled
  };

  std::size_t scan(std::string_view text, std::size_t from, bool to_row_end);

  const char separator_;
  std::uint64_t at_;  // the offset of the next byte
  State state_ = State::begin;
  std::uint64_t opened_ = 0;
};

}  // namespace dataflow
}  // namespace lp

#include "nodes/dataflow/csv_row.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <system_error>

#include "lp/base/error.h"

namespace lp {

void CsvRow::parse(std::string_view record) {
  fields_.clear();
  copied_ = 0;
  for (std::size_t at = 0;;) {
    if (at < record.size() && record[at] == '"') {
      at = quoted(record, at);
    } else {
      const std::size_t end = std::min(record.find(separator_, at), record.size());
      fields_.push_back(record.substr(at, end - at));
      at = end;
    }
    if (at == record.size()) return;
    ++at;  // the separator
  }
}

// Reads the field that begins with the quote at `at`. Returns the position behind it.
std::size_t CsvRow::quoted(std::string_view record, std::size_t at) {
  const std::size_t begin = at + 1;
  std::size_t from = begin;
  std::string* copy = nullptr;
  for (;;) {
    const std::size_t quote = record.find('"', from);
    if (quote == std::string_view::npos)
      throw Error(ErrorKind::failed, "a field begins with a quote, and has no other");
    const std::size_t next = quote + 1;
    if (next == record.size() || record[next] == separator_) {
      if (copy != nullptr) copy->append(record.substr(from, quote - from));
      fields_.push_back(copy != nullptr ? std::string_view(*copy) : record.substr(begin, quote - begin));
      return next;
    }
    if (record[next] != '"') {
      throw Error(ErrorKind::failed,
                  "a field goes on after its closing quote: " +
                      std::string(record.substr(begin - 1, std::min<std::size_t>(40, next - begin + 2))));
    }
    if (copy == nullptr) {
      if (copied_ == copies_.size()) copies_.emplace_back();
      copy = &copies_[copied_++];
      copy->clear();
    }
    copy->append(record.substr(from, next - from));
    from = next + 1;
  }
}

double CsvRow::number(std::size_t column) const {
  const std::string_view text = (*this)[column];
  double out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw Error(ErrorKind::failed,
                "column " + std::to_string(column) + " is no number: \"" + std::string(text.substr(0, 40)) + "\"");
  }
  return out;
}

void CsvRow::expect(std::size_t columns) const {
  if (fields_.size() == columns) return;
  throw Error(ErrorKind::failed, "the row has " + std::to_string(fields_.size()) +
                                     " columns, and the first row of its file has " + std::to_string(columns));
}

void CsvRow::no_column(std::size_t column) const {
  throw Error(ErrorKind::failed,
              "there is no column " + std::to_string(column) + ": the row has " + std::to_string(fields_.size()));
}

namespace dataflow {

std::size_t row_end(std::string_view text, std::size_t from, bool& open) {
  while (from < text.size()) {
    const void* const found = std::memchr(text.data() + from, '\n', text.size() - from);
    const std::size_t end =
        found == nullptr ? text.size() : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
    if (std::count(text.begin() + static_cast<std::ptrdiff_t>(from), text.begin() + static_cast<std::ptrdiff_t>(end),
                   '"') %
            2 ==
        1) {
      open = !open;
    }
    if (end == text.size() || !open) return end;
    from = end + 1;
  }
  return text.size();
}

}  // namespace dataflow
}  // namespace lp

#include "nodes/dataflow/csv_row.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "lp/base/error.h"
#include "lp/base/text.h"

namespace lp {

void CsvRow::parse(std::string_view record) {
  fields_.clear();
  copied_ = 0;
  const bool odd = record.find('"') != std::string_view::npos || record.find('\r') != std::string_view::npos;
  for (std::size_t at = 0;;) {
    if (at < record.size() && record[at] == '"') {
      at = quoted(record, at);
    } else {
      const std::size_t end = std::min(record.find(separator_, at), record.size());
      fields_.push_back(record.substr(at, end - at));
      if (odd) check_plain(fields_.back());
      at = end;
    }
    if (at == record.size()) return;
    ++at;  // the separator
  }
}

void CsvRow::check_plain(std::string_view field) {
  if (field.find('"') != std::string_view::npos) {
    throw Error(ErrorKind::failed, "a quote stands inside the field " + quote(field) +
                                       ": write the whole field in quotes, and double those inside");
  }
  if (field.find('\r') != std::string_view::npos) {
    throw Error(ErrorKind::failed, "a carriage return stands inside the field " + quote(field) +
                                       ": end the lines with a line feed, or write the field in quotes");
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
  const bool plus = text.starts_with('+') && !text.starts_with("+-");
  const char* const begin = text.data() + (plus ? 1 : 0);
  double out = 0;
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), out);
  if (error == std::errc() && end == text.data() + text.size() && !std::isnan(out)) return out;
  const bool beyond = error == std::errc::result_out_of_range;
  throw Error(ErrorKind::failed, "column " + std::to_string(column) +
                                     (beyond ? " is too large or too small for a double: \"" : " is no number: \"") +
                                     std::string(text.substr(0, 40)) + "\"");
}

void CsvRow::expect(std::size_t columns) const {
  if (fields_.size() == columns) return;
  throw Error(ErrorKind::failed, "the row has " + std::to_string(fields_.size()) +
                                     " columns, and the first row of its file has " + std::to_string(columns));
}

void CsvRow::no_column(std::size_t column) const {
  const std::string hint =
      ", since it has no " + quote({&separator_, 1}) + ": is the separator of the file another one?";
  throw Error(ErrorKind::failed, "there is no column " + std::to_string(column) + ": the row has " +
                                     std::to_string(fields_.size()) + (fields_.size() == 1 ? hint : ""));
}

namespace dataflow {

std::size_t CsvScanner::scan(std::string_view text, std::size_t from, bool to_row_end) {
  const std::uint64_t offset = at_ - from;
  at_ = offset + text.size();
  std::optional<std::size_t> end;
  if (!to_row_end) end = text.size();
  while (from < text.size()) {
    if (state_ == State::quoted) {
      const std::size_t quote = text.find('"', from);
      if (quote == std::string_view::npos) break;
      state_ = State::quote;
      from = quote + 1;
      continue;
    }
    if (state_ == State::quote && text[from] == '"') {
      state_ = State::quoted;
      ++from;
      continue;
    }
    if (!end || *end < from) end = std::min(text.find('\n', from), text.size());
    const std::size_t quote = std::min(text.substr(0, *end).find('"', from), *end);
    if (quote == *end && *end < text.size()) {
      state_ = State::begin;
      at_ = offset + *end + 1;
      return *end;
    }
    const bool begins =
        quote == from ? state_ == State::begin : text[quote - 1] == separator_ || text[quote - 1] == '\n';
    if (quote == *end) {
      state_ = begins ? State::begin : State::plain;
      break;
    }
    state_ = begins ? State::quoted : State::plain;
    opened_ = offset + quote;
    from = quote + 1;
  }
  return text.size();
}

}  // namespace dataflow
}  // namespace lp

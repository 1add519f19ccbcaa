// Files of comma-separated values (RFC 4180, except line breaks inside quotes).
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lp/base/text.h"
#include "programs/data/data.h"
#include "programs/data/data_text.h"

namespace lp {
namespace {

using internal::check_dense_size;
using internal::kMaxClasses;
using internal::parse;
using internal::take_signs;
using internal::without_byte_order_mark;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t begin = std::min(text.find_first_not_of(kBlank), text.size());
  return text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin);
}

bool is_number(std::string_view cell) {
  long double value = 0;
  return parse(cell, value) && std::isfinite(value);
}

// The value of a cell that is a number and fits a float, with or without quotes.
std::optional<float> number_of(std::string_view cell) {
  double value = 0;
  if (!parse(cell, value) || !std::isfinite(static_cast<float>(value))) return std::nullopt;
  return static_cast<float>(value);
}

class CsvReader {
 public:
  // `inputs` is the number of features of lines that may have no label. With 0, the last cell is the label, and the
  // first line decides the number.
  CsvReader(const Bytes& text, Eigen::Index inputs) : text_(text), inputs_(static_cast<std::size_t>(inputs)) {
    labelled_ = inputs == 0;
  }

  Dataset read() {
    std::string_view rest = without_byte_order_mark(text_.bytes);
    if (rest.find('\0') != std::string_view::npos) throw_failed(text_.name + ": is not text: it has a zero byte");
    bool first = true;
    while (!rest.empty()) {
      ++line_number_;
      const std::size_t end = rest.find('\n');
      const std::string_view line = trimmed(rest.substr(0, end));
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
      if (line.empty()) continue;
      if (first) choose_separator(line);
      split(line);
      const bool head = first && is_head();
      first = false;
      if (!head) take_example();
    }
    if (examples_ == 0) throw_failed(text_.name + ": has no example");
    return dataset();
  }

 private:
  [[noreturn]] void wrong(const std::string& what) const {
    throw_failed(text_.name + ":" + std::to_string(line_number_) + ": " + what);
  }

  void choose_separator(std::string_view line) {
    bool quoted = false;
    for (const char c : line) {
      if (c == '"') quoted = !quoted;
      if (c == ';' && !quoted) separator_ = ';';
    }
  }

  // Sets the cells of the line, without blanks and quotes around them.
  void split(std::string_view line) {
    cells_.clear();
    for (bool more = true; more;) {
      const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
      std::size_t end = begin;
      if (line.substr(begin).starts_with('"')) {
        const std::size_t close = closing_quote(line, begin);
        if (close == std::string_view::npos) {
          wrong("a quote is not closed in this line: line breaks within quotes are not supported in training data");
        }
        cells_.push_back(without_doubled(line.substr(begin + 1, close - begin - 1)));
        end = std::min(line.find(separator_, close), line.size());
        if (!trimmed(line.substr(close + 1, end - close - 1)).empty()) {
          wrong("expected the end of the cell after a quote, got " + quote(line.substr(close + 1, end - close - 1)));
        }
      } else {
        end = std::min(line.find(separator_), line.size());
        cells_.push_back(trimmed(line.substr(0, end)));
      }
      more = end < line.size();
      line.remove_prefix(more ? end + 1 : end);
    }
  }

  // A quote in a quoted cell is written twice (RFC 4180).
  static std::size_t closing_quote(std::string_view line, std::size_t open) {
    std::size_t at = line.find('"', open + 1);
    while (at != std::string_view::npos && line.substr(at + 1).starts_with('"')) at = line.find('"', at + 2);
    return at;
  }
  std::string_view without_doubled(std::string_view cell) {
    if (cell.find('"') == std::string_view::npos) return cell;
    std::string& text = unquoted_.emplace_back();
    for (std::size_t i = 0; i < cell.size(); i += cell[i] == '"' ? 2 : 1) text += cell[i];
    return text;
  }

  std::size_t features() const {
    if (!labelled_) return std::min(cells_.size(), inputs_);
    return cells_.size() - 1;
  }
  // A head has a name for each feature. A line with a number or a missing cell is an example.
  bool is_head() const {
    for (std::size_t i = 0; i < features(); ++i) {
      if (cells_[i].empty() || is_number(cells_[i])) return false;
    }
    return features() > 0;
  }

  void take_example() {
    if (features() == 0) wrong("expected features and a label, got only one cell");
    if (inputs_ == 0) inputs_ = features();
    const bool too_many = !labelled_ && cells_.size() > inputs_ + 1;  // a label may be present
    if (features() != inputs_ || too_many) {
      wrong("expected " + std::to_string(inputs_) + " features and " + (labelled_ ? "a label" : "optionally a label") +
            ", got " + std::to_string(cells_.size()) + " cells");
    }
    check_dense_size(inputs_, ++examples_, text_.name + ":" + std::to_string(line_number_));
    for (std::size_t i = 0; i < inputs_; ++i) {
      const std::optional<float> value = number_of(cells_[i]);
      if (cells_[i].empty()) wrong("the value of column " + std::to_string(i + 1) + " is missing");
      if (!value && is_number(cells_[i])) {
        wrong("the number in column " + std::to_string(i + 1) + " does not fit a float: " + quote(cells_[i]));
      }
      if (!value) wrong("expected a number in column " + std::to_string(i + 1) + ", got " + quote(cells_[i]));
      values_.push_back(*value);
    }
    if (labelled_) take_label(cells_.back());
  }

  void take_label(std::string_view cell) {
    double number = 0;
    const bool is_name = !parse(cell, number);
    if (cell.empty()) wrong("the label is missing");
    if (examples_ == 1) named_ = is_name;
    if (is_name != named_) {
      wrong("expected a label that is " + std::string(named_ ? "a name" : "a number") + ", like those before, got " +
            quote(cell));
    }
    if (named_) {
      names_of_labels_.emplace_back(cell);
      names_.emplace(cell, 0);
      if (names_.size() > kMaxClasses) wrong("more than " + std::to_string(kMaxClasses) + " classes");
      return;
    }
    if (!(number >= -1 && number < kMaxClasses) || number != std::floor(number)) {
      wrong("expected a label, a name or a whole number from 0 to " + std::to_string(kMaxClasses - 1) +
            " or −1, at the end, got " + quote(cell));
    }
    has_negative_ |= number == -1;
    if (std::abs(number) != 1 && beyond_binary_ == 0) beyond_binary_ = line_number_;
    if (has_negative_ && beyond_binary_ != 0) {
      line_number_ = beyond_binary_;
      wrong("expected a label of −1 or +1, because other labels are −1");
    }
    labels_.push_back(static_cast<int>(number));
  }

  Dataset dataset() {
    int number = 0;
    for (auto& [name, label] : names_) label = number++;
    for (const std::string_view name : names_of_labels_) labels_.push_back(names_.find(name)->second);
    labels_.resize(examples_, 0);  // labels of unlabelled examples
    const auto examples = static_cast<Eigen::Index>(examples_);
    Dataset out;
    out.features = Eigen::Map<const Eigen::MatrixXf>(values_.data(), static_cast<Eigen::Index>(inputs_), examples);
    out.labels = Eigen::Map<const Eigen::VectorXi>(labels_.data(), examples);
    out.classes = out.labels.maxCoeff() + 1;
    if (has_negative_) take_signs(out);
    for (const auto& [name, label] : names_) out.names.emplace_back(name);
    return out;
  }

  const Bytes& text_;
  std::size_t inputs_;
  bool labelled_;
  char separator_ = ',';
  std::size_t line_number_ = 0;
  std::vector<std::string_view> cells_{};
  std::deque<std::string> unquoted_{};  // cells of all lines that are not in the text as they are
  std::size_t examples_ = 0;
  std::vector<float> values_{};
  bool named_ = false;
  std::vector<int> labels_{};
  std::vector<std::string_view> names_of_labels_{};
  std::map<std::string_view, int> names_{};
  bool has_negative_ = false;
  std::size_t beyond_binary_ = 0;  // the first line whose label is neither −1 nor +1
};

}  // namespace

Dataset parse_csv(const Bytes& text, Eigen::Index unlabelled_inputs) {
  return CsvReader(text, unlabelled_inputs).read();
}

}  // namespace lp

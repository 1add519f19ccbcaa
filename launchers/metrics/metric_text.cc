#include "launchers/metrics/metric_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "lp/base/utf8.h"

namespace lp::launch {
namespace {

std::string_view type_text(MetricSample::Kind kind) {
  switch (kind) {
    case MetricSample::Kind::counter: return "counter";
    case MetricSample::Kind::gauge: return "gauge";
    case MetricSample::Kind::histogram: break;
  }
  return "histogram";
}

// Adds text that ends where it stops being UTF-8, which Prometheus would refuse together with all other series.
void add_escaped(std::string& text, std::string_view value, bool quoted) {
  for (const char c : value.substr(0, valid_utf8_prefix(value))) {
    if (c == '\n') {
      text += "\\n";
      continue;
    }
    if (c == '\\' || (quoted && c == '"')) text += '\\';
    text += c;
  }
}

template <class Number>
void add_number(std::string& text, Number value) {
  std::array<char, 32> digits;
  text.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
}

void begin_line(std::string& text, std::string_view name, std::string_view suffix, std::string_view labels) {
  text += name;
  text += suffix;
  if (!labels.empty()) {
    text += '{';
    text += labels;
    text += '}';
  }
  text += ' ';
}

}  // namespace

void write_head(std::string& text, const MetricName& metric) {
  text += "# HELP ";
  text += metric.name;
  text += ' ';
  add_escaped(text, metric.help, false);
  text += "\n# TYPE ";
  text += metric.name;
  text += ' ';
  text += type_text(metric.kind);
  text += '\n';
}

void add_label(std::string& labels, std::string_view name, std::string_view value) {
  if (!labels.empty()) labels += ',';
  labels += name;
  labels += "=\"";
  add_escaped(labels, value, true);
  labels += '"';
}

void write_series(std::string& text, std::string_view name, std::string_view labels, std::uint64_t value) {
  begin_line(text, name, "", labels);
  add_number(text, value);
  text += '\n';
}

void write_series(std::string& text, std::string_view name, std::string_view labels, double value) {
  begin_line(text, name, "", labels);
  text += metric_number(value);
  text += '\n';
}

std::string metric_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  std::string text;
  add_number(text, value);
  return text;
}

void HistogramText::bucket(std::string_view bound, std::uint64_t count) {
  below_ += count;
  text_ += name_;
  text_ += "_bucket{";
  text_ += labels_;
  text_ += labels_.empty() ? "le=\"" : ",le=\"";
  text_ += bound;
  text_ += "\"} ";
  add_number(text_, below_);
  text_ += '\n';
}

void HistogramText::end(std::uint64_t count, double sum) {
  bucket("+Inf", count);
  begin_line(text_, name_, "_sum", labels_);
  text_ += metric_number(sum);
  text_ += '\n';
  begin_line(text_, name_, "_count", labels_);
  add_number(text_, below_);
  text_ += '\n';
}

}  // namespace lp::launch

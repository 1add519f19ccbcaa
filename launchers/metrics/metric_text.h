#pragma once
// Writes Prometheus' text format, version 0.0.4. Functions; any thread.

#include <cstdint>
#include <string>
#include <string_view>

#include "lp/rpc/observation/metric_sample.h"

namespace lp::launch {

// The name of a metric, its kind, and a sentence for people.
struct MetricName {
  std::string_view name{};
  MetricSample::Kind kind = MetricSample::Kind::gauge;
  std::string_view help{};
};

// Adds the lines "# HELP" and "# TYPE", which stand before all series of the metric.
void write_head(std::string& text, const MetricName& metric);

// Adds `name="value"` to labels, with a comma where there is one already.
void add_label(std::string& labels, std::string_view name, std::string_view value);

// Adds a line. `labels` are those that add_label made.
void write_series(std::string& text, std::string_view name, std::string_view labels, std::uint64_t value);
void write_series(std::string& text, std::string_view name, std::string_view labels, double value);

// Returns "NaN", "+Inf", "-Inf", or the shortest number that reads back exactly.
std::string metric_number(double value);

// Writes the series of one histogram.
class HistogramText {
 public:
  HistogramText(std::string& text, std::string_view name, std::string_view labels)
      : text_(text), name_(name), labels_(labels) {}

  // The next bucket, with the text of its bound and the number of values that are in it and in no earlier one.
  void bucket(std::string_view bound, std::uint64_t count);
  // The last bucket, and what belongs to all values.
  void end(std::uint64_t count, double sum);

 private:
  std::string& text_;
  const std::string_view name_;
  const std::string_view labels_;
  std::uint64_t below_ = 0;
};

}  // namespace lp::launch

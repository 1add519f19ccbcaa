#pragma once
// Numbers that a node defines for Prometheus, one line each. --metrics serves them beside those of lp, with the labels
// `group` and `node`.
//
//   lp::metric::Counter images{context, "images", "images that were decoded"};
//   lp::metric::Gauge loss{context, "loss", "loss of the last batch", {{"split", "test"}}};
//   lp::metric::Histogram waits{context, "batch_wait_seconds", "time to the next batch"};
//   images.add();
//   loss.set(0.3);
//   waits.observe(0.002);
//
// A second one with the same name and labels is the same. A name may have MetricRegistry::kSeries different labels in a
// node; the others are dropped and counted. A name or label that Prometheus does not allow, or that lp uses itself, is
// refused with an Error.
//
// A value that can be copied, and used as long as the service lives. Any thread may use it; that costs a few
// nanoseconds.

#include <string_view>
#include <vector>

#include "lp/program/context.h"
#include "lp/program/metric_registry.h"

namespace lp::metric {

// A number that grows from 0, such as events or bytes. Prometheus computes rates, also across restarts. It sees the
// name with "_total" at its end.
class Counter {
 public:
  Counter(Context& context, std::string_view name, std::string_view help = {}, MetricLabels labels = {});
  void add(double amount = 1);  // throws Error for a negative amount, and for what is no number
  double value() const { return cell_ == nullptr ? 0 : cell_->value.load(); }

 private:
  MetricCell* cell_;  // null: it was dropped
};

// A number that goes up and down, such as a loss or a length.
class Gauge {
 public:
  Gauge(Context& context, std::string_view name, std::string_view help = {}, MetricLabels labels = {});
  void set(double value) noexcept {
    if (cell_ != nullptr) cell_->value.store(value, std::memory_order_relaxed);
  }
  void add(double amount) noexcept {
    if (cell_ != nullptr) cell_->value.fetch_add(amount, std::memory_order_relaxed);
  }
  double value() const { return cell_ == nullptr ? 0 : cell_->value.load(); }

 private:
  MetricCell* cell_;
};

// The distribution of values: how many of them are at most each of the bounds. Without bounds of its own it has the
// powers of 4 from 1e-6 to 1e9 or so, which fit seconds, numbers and bytes.
class Histogram {
 public:
  static constexpr std::size_t kMostBounds = 64;

  Histogram(Context& context, std::string_view name, std::string_view help = {}, MetricLabels labels = {},
            std::vector<double> bounds = {});
  void observe(double value) noexcept;

 private:
  MetricCell* cell_;
};

}  // namespace lp::metric

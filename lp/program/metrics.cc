#include "lp/program/metrics.h"

#include <algorithm>
#include <string>
#include <utility>

#include "lp/base/error.h"

namespace lp::metric {
namespace {

std::string counter_name(std::string_view name) {
  return std::string(name) + (name.ends_with("_total") ? "" : "_total");
}

std::vector<double> bounds_or_default(std::vector<double> bounds) {
  if (bounds.size() > Histogram::kMostBounds) {
    throw_failed("a histogram may have at most " + std::to_string(Histogram::kMostBounds) + " bounds");
  }
  if (!bounds.empty()) return bounds;
  for (double bound = 1.0 / (1 << 20); bound <= 1 << 30; bound *= 4) bounds.push_back(bound);
  return bounds;
}

}  // namespace

Counter::Counter(Context& context, std::string_view name, std::string_view help, MetricLabels labels)
    : cell_(context.metrics().series(MetricSample::Kind::counter, counter_name(name), help, std::move(labels))) {}

void Counter::add(double amount) {
  if (!(amount >= 0)) throw_failed("a counter only grows: add() needs an amount of 0 or more");
  if (cell_ != nullptr) cell_->value.fetch_add(amount, std::memory_order_relaxed);
}

Gauge::Gauge(Context& context, std::string_view name, std::string_view help, MetricLabels labels)
    : cell_(context.metrics().series(MetricSample::Kind::gauge, name, help, std::move(labels))) {}

Histogram::Histogram(Context& context, std::string_view name, std::string_view help, MetricLabels labels,
                     std::vector<double> bounds)
    : cell_(context.metrics().series(MetricSample::Kind::histogram, name, help, std::move(labels),
                                     bounds_or_default(std::move(bounds)))) {}

// A value that is no number lies in no bucket but the last, and makes the sum no number, as with Prometheus' own
// clients.
void Histogram::observe(double value) noexcept {
  if (cell_ == nullptr) return;
  const std::vector<double>& bounds = cell_->bounds;
  const auto bucket = std::find_if(bounds.begin(), bounds.end(), [&](double bound) { return value <= bound; });
  cell_->counts[static_cast<std::size_t>(bucket - bounds.begin())].fetch_add(1, std::memory_order_relaxed);
  cell_->value.fetch_add(value, std::memory_order_relaxed);
}

}  // namespace lp::metric

#include "lp/program/metric_registry.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/text.h"
#include "lp/base/utf8.h"

namespace lp {
namespace {

constexpr std::array<std::string_view, 3> kPartsOfHistograms = {"_bucket", "_count", "_sum"};
constexpr std::array<std::string_view, 4> kLabelsOfLp = {"node", "group", "le", "quantile"};

bool is_word(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && letter(text[0]) && text.size() <= MetricRegistry::kLongestText &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

[[noreturn]] void refuse_metric(std::string_view name, const std::string& why) {
  throw_failed("the metric " + quote(name) + " " + why);
}

void check_name(MetricSample::Kind kind, std::string_view name) {
  if (!is_word(name)) {
    refuse_metric(name, "needs another name: letters, digits and _, no digit first, and at most " +
                            std::to_string(MetricRegistry::kLongestText) + " of them");
  }
  if (name.starts_with("lp_") || name.starts_with("__")) {
    refuse_metric(name, "needs another name: lp_ and __ begin the names of lp and of Prometheus");
  }
  const bool like_part = std::any_of(kPartsOfHistograms.begin(), kPartsOfHistograms.end(),
                                     [&](std::string_view part) { return name.ends_with(part); });
  if (like_part) refuse_metric(name, "needs another name: _bucket, _count and _sum end the parts of a histogram");
  if (kind != MetricSample::Kind::counter && name.ends_with("_total")) {
    refuse_metric(name, "needs another name: _total ends the names of counters");
  }
}

// Brings the labels into the order and the form in which they are compared.
void tidy_labels(std::string_view name, MetricLabels& labels) {
  if (labels.size() > MetricRegistry::kLabels) {
    refuse_metric(name, "has more than " + std::to_string(MetricRegistry::kLabels) + " labels");
  }
  std::sort(labels.begin(), labels.end());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    auto& [label, value] = labels[i];
    if (!is_word(label) || label.starts_with("__")) {
      refuse_metric(name, "cannot have the label " + quote(label) + ": use letters, digits and _, no digit first");
    }
    if (std::find(kLabelsOfLp.begin(), kLabelsOfLp.end(), label) != kLabelsOfLp.end()) {
      refuse_metric(name, "cannot have the label " + quote(label) + ": lp and Prometheus set it");
    }
    if (i > 0 && labels[i - 1].first == label) refuse_metric(name, "has the label " + quote(label) + " twice");
    value.resize(std::min(value.size(), MetricRegistry::kLongestText));
    value.resize(valid_utf8_prefix(value));
  }
}

void check_bounds(std::string_view name, const std::vector<double>& bounds) {
  const bool finite = std::all_of(bounds.begin(), bounds.end(), [](double bound) { return std::isfinite(bound); });
  if (!finite || std::adjacent_find(bounds.begin(), bounds.end(), std::greater_equal<>()) != bounds.end()) {
    refuse_metric(name, "needs bounds that are finite and grow");
  }
}

std::string kind_text(MetricSample::Kind kind) {
  switch (kind) {
    case MetricSample::Kind::counter: return "counter";
    case MetricSample::Kind::gauge: return "gauge";
    case MetricSample::Kind::histogram: break;
  }
  return "histogram";
}

}  // namespace

// Null when there are too many. Called with the lock.
MetricRegistry::Metric* MetricRegistry::metric(Kind kind, const std::string& name, std::string_view help,
                                               std::vector<double> bounds) {
  const auto at = metrics_.find(name);
  if (at != metrics_.end()) {
    if (at->second.kind != kind) refuse_metric(name, "is a " + kind_text(at->second.kind) + " of this node already");
    if (at->second.bounds != bounds) refuse_metric(name, "has other bounds already");
    return &at->second;
  }
  if (metrics_.size() >= kNames) return nullptr;
  std::string text(help.empty() ? "a " + kind_text(kind) + " of the program" : help);
  text.resize(std::min(text.size(), kLongestText));
  text.resize(valid_utf8_prefix(text));
  return &metrics_.emplace(name, Metric{.kind = kind, .help = std::move(text), .bounds = std::move(bounds)})
              .first->second;
}

MetricCell* MetricRegistry::series(Kind kind, std::string_view name, std::string_view help, MetricLabels labels,
                                   std::vector<double> bounds) {
  check_name(kind, name);
  tidy_labels(name, labels);
  check_bounds(name, bounds);
  const std::lock_guard lock(mutex_);
  Metric* const found = metric(kind, std::string(name), help, std::move(bounds));
  if (found != nullptr) {
    if (const auto at = found->series.find(labels); at != found->series.end()) return at->second.get();
  }
  if (found == nullptr || found->series.size() >= kSeries) {
    ++dropped_;
    return nullptr;
  }
  auto made = std::make_unique<MetricCell>();
  if (kind == Kind::histogram) {
    made->bounds = found->bounds;
    made->counts = std::make_unique<std::atomic<std::uint64_t>[]>(made->bounds.size() + 1);
  }
  return found->series.emplace(std::move(labels), std::move(made)).first->second.get();
}

void MetricRegistry::sample(const std::string& node, MetricSamples& all) const {
  const std::lock_guard lock(mutex_);
  all.dropped += dropped_;
  for (const auto& [name, metric] : metrics_) {
    for (const auto& [labels, series] : metric.series) {
      MetricSample& sample = all.samples.emplace_back(MetricSample{.node = node,
                                                                   .name = name,
                                                                   .help = metric.help,
                                                                   .kind = metric.kind,
                                                                   .labels = labels,
                                                                   .value = series->value.load(),
                                                                   .bounds = series->bounds});
      if (metric.kind != Kind::histogram) continue;
      for (std::size_t i = 0; i <= series->bounds.size(); ++i) sample.counts.push_back(series->counts[i].load());
    }
  }
}

}  // namespace lp

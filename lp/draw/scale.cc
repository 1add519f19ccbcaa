#include "lp/draw/scale.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>

namespace lp::internal {
namespace {

constexpr double kLargest = 1e300;    // larger numbers would have infinite differences
constexpr double kSmallest = 1e-290;  // a smaller range has no parts
constexpr double kMostMarks = 6;      // parts of an axis
constexpr double kLeastRatio = 100;

// The round distance, 1, 2 or 5 times a power of ten, that is at least this one.
double round_up(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least) return factor * power;
  }
  return 10 * power;
}

bool helps_logarithmic(std::vector<double> values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (*least <= 0 || *most < kLeastRatio * *least) return false;
  const double lowest_tenth = *least + (*most - *least) / 10;
  const auto low = std::count_if(values.begin(), values.end(), [&](double value) { return value < lowest_tenth; });
  return 2 * static_cast<std::size_t>(low) > values.size();
}

// Writes numbers in thousands, millions, ..., as one unit for all of an axis, with the digits that distinguish
// neighbours.
std::string text_of(double value, double distance, double largest) {
  std::array<char, 48> text{};
  constexpr std::array kUnits = {"", "k", "M", "G", "T"};
  std::size_t unit = 0;
  for (double rest = largest; rest >= (unit == 0 ? 9999.5 : 999.5) && unit + 1 < kUnits.size(); rest /= 1000) ++unit;
  const double scale = std::pow(1000, static_cast<double>(unit));
  const double decimals = std::ceil(-std::log10(distance / scale) - 1e-9);
  if (value == 0) return "0";
  if (largest >= 1e16 || decimals > 5) {
    std::snprintf(text.data(), text.size(), "%.4g", value);
  } else {
    std::snprintf(text.data(), text.size(), "%.*f%s", static_cast<int>(std::max(decimals, 0.0)), value / scale,
                  kUnits[unit]);
  }
  return text.data();
}

}  // namespace

Scale::Scale(std::vector<double> values, bool may_be_logarithmic) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) return;
  empty_ = false;
  for (double& value : values) value = std::clamp(value, -kLargest, kLargest);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  least_ = *least;
  most_ = *most;
  logarithmic_ = may_be_logarithmic && helps_logarithmic(std::move(values));
}

double Scale::share(double value) const {
  value = std::clamp(value, least_, most_);
  if (!(most_ > least_)) return 0.5;
  if (logarithmic_) return (std::log(value) - std::log(least_)) / (std::log(most_) - std::log(least_));
  return (value - least_) / (most_ - least_);
}

std::vector<Scale::Mark> Scale::powers() const {
  const double first = std::ceil(std::log10(least_) - 1e-9);
  const double last = std::floor(std::log10(most_) + 1e-9);
  const double step = std::max(1.0, std::ceil((last - first) / kMostMarks));
  std::vector<Mark> marks;
  for (double exponent = first; exponent <= last; exponent += step) {
    std::array<char, 32> text{};
    const double value = std::pow(10, exponent);
    std::snprintf(text.data(), text.size(), exponent < -3 || exponent > 4 ? "%.0e" : "%g", value);
    marks.push_back({std::clamp(value, least_, most_), text.data()});
  }
  return marks;
}

std::vector<Scale::Mark> Scale::marks() const {
  if (empty_) return {};
  if (logarithmic_) return powers();
  const double largest = std::max(std::abs(least_), std::abs(most_));
  const double range = most_ - least_;
  if (range <= std::max(largest * 1e-12, kSmallest)) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.6g", least_);
    return {{least_, text.data()}};
  }
  const double distance = round_up(range / kMostMarks);
  std::vector<Mark> marks;
  const double first = std::ceil(least_ / distance - 1e-9);
  for (double i = 0; i <= kMostMarks; ++i) {  // counted, because a distance can vanish beside a large number
    const double value = (first + i) * distance;
    if (value > most_ + distance * 1e-9) break;
    marks.push_back({value, text_of(value, distance, largest)});
  }
  return marks;
}

}  // namespace lp::internal

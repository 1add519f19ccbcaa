#pragma once
// The scale of a chart's axis: a range of numbers, linear or logarithmic, and the round numbers in it that have a mark.
// Values.

#include <string>
#include <vector>

namespace lp::internal {

class Scale {
 public:
  struct Mark {
    double value = 0;
    std::string text{};  // "0.25", "20k"
  };

  // The scale of an axis that shows these values; those that are not finite do not count. With `may_be_logarithmic` it
  // is logarithmic if that helps: all values are positive, the largest is at least 100 times the smallest, and more
  // than half of the values would share the lowest tenth of a linear axis.
  Scale(std::vector<double> values, bool may_be_logarithmic);

  bool empty() const { return empty_; }
  bool logarithmic() const { return logarithmic_; }
  double least() const { return least_; }
  double most() const { return most_; }
  // 0 for the least value, 1 for the largest.
  double share(double value) const;
  // Marks from the least value to the largest, at most about seven.
  std::vector<Mark> marks() const;

 private:
  std::vector<Mark> powers() const;

  bool empty_ = true;
  bool logarithmic_ = false;
  double least_ = 0;
  double most_ = 0;
};

}  // namespace lp::internal

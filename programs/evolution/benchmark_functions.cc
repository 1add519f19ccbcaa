#include "programs/evolution/benchmark_functions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <string_view>

#include "lp/base/error.h"
#include "lp/base/random.h"
#include "lp/base/text.h"

namespace lp {
namespace {

struct Named {
  std::string_view name;
  double (*f)(std::span<const float>);
  double half_width;  // the cube around 0 in which it is usually searched
  std::size_t least_dimensions;
};

constexpr std::array kAll = {Named{"ackley", &ackley, 32.768, 1}, Named{"rastrigin", &rastrigin, 5.12, 1},
                             Named{"rosenbrock", &rosenbrock, 2.048, 2}, Named{"sphere", &sphere, 5.12, 1}};

class FunctionObjective final : public Objective {
 public:
  FunctionObjective(const Named& function, std::size_t dimensions)
      : function_(function), name_(function.name), dimensions_(dimensions) {}

  const std::string& name() const override { return name_; }
  std::size_t size() const override { return dimensions_; }
  Eigen::VectorXf start(std::uint64_t seed) const override {
    Random random(seed, "start");
    Eigen::VectorXf out(static_cast<Eigen::Index>(dimensions_));
    for (float& one : out) one = static_cast<float>((2 * random.uniform() - 1) * function_.half_width);
    return out;
  }
  Evaluation evaluate(std::span<const float> parameters, std::uint64_t) override {
    return {.value = -function_.f(parameters)};
  }

 private:
  const Named function_;
  const std::string name_;
  const std::size_t dimensions_;
};

double cosine(double x) { return std::cos(2 * std::numbers::pi * x); }

}  // namespace

double sphere(std::span<const float> x) {
  double sum = 0;
  for (const double one : x) sum += one * one;
  return sum;
}

double rosenbrock(std::span<const float> x) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    const double one = x[i];
    const double off = x[i + 1] - one * one;
    sum += 100 * off * off + (1 - one) * (1 - one);
  }
  return sum;
}

double rastrigin(std::span<const float> x) {
  double sum = 10 * static_cast<double>(x.size());
  for (const double one : x) sum += one * one - 10 * cosine(one);
  return sum;
}

double ackley(std::span<const float> x) {
  double cosines = 0;
  for (const double one : x) cosines += cosine(one);
  const auto n = static_cast<double>(x.size());
  return 20 + std::numbers::e - 20 * std::exp(-0.2 * std::sqrt(sphere(x) / n)) - std::exp(cosines / n);
}

std::vector<std::string> function_names() {
  std::vector<std::string> out;
  for (const Named& one : kAll) out.emplace_back(one.name);
  return out;
}

MakeObjective function_objective(const std::string& name, std::size_t dimensions) {
  const auto* const found = std::find_if(kAll.begin(), kAll.end(), [&](const Named& one) { return one.name == name; });
  if (found == kAll.end()) {
    throw Error(ErrorKind::failed,
                "there is no function \"" + name + "\": choose one of " + join(function_names(), ", "));
  }
  if (dimensions < found->least_dimensions) {
    throw Error(ErrorKind::failed, "the function \"" + name + "\" needs " + std::to_string(found->least_dimensions) +
                                       " or more dimensions, not " + std::to_string(dimensions));
  }
  return [function = *found, dimensions](std::uint64_t) {
    return std::make_unique<FunctionObjective>(function, dimensions);
  };
}

}  // namespace lp

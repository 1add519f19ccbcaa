// Steps per second of a batch of environments in one thread, with actions at random.
//
//   environments_bench [--quick]    prints a table on standard error and JSON on standard output

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "lp/base/random.h"
#include "lp/base/scheduler.h"
#include "programs/environments/environment_batch.h"
#include "programs/environments/environments.h"

namespace {

double seconds_since(lp::Time start) { return std::chrono::duration<double>(lp::now() - start).count(); }

std::vector<Eigen::MatrixXf> random_actions(const lp::ActionSpace& space, Eigen::Index copies) {
  lp::Random random(1, "actions");
  std::vector<Eigen::MatrixXf> out(64, Eigen::MatrixXf(space.size(), copies));
  for (Eigen::MatrixXf& actions : out) {
    for (float& one : actions.reshaped()) {
      one = space.discrete() ? static_cast<float>(random.below(static_cast<std::uint64_t>(space.choices)))
                             : static_cast<float>(random.normal());
    }
  }
  return out;
}

// The median of five runs.
double steps_per_second(const std::string& name, std::size_t copies, double seconds) {
  lp::EnvironmentBatch batch([&] { return lp::make_environment(name); }, copies, 1);
  const auto actions = random_actions(batch.spec().action, static_cast<Eigen::Index>(copies));
  std::vector<double> rates;
  for (int run = 0; run < 5; ++run) {
    const lp::Time start = lp::now();
    std::size_t steps = 0;
    while (seconds_since(start) < seconds) {
      for (const Eigen::MatrixXf& one : actions) batch.step(one);
      steps += actions.size() * copies;
    }
    rates.push_back(static_cast<double>(steps) / seconds_since(start));
  }
  std::nth_element(rates.begin(), rates.begin() + 2, rates.end());
  return rates[2];
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::string(argv[1]) == "--quick";
  std::string json;
  for (const std::string& name : lp::environment_names()) {
    for (const std::size_t copies : {1U, 64U, 1024U}) {
      const double rate = steps_per_second(name, copies, quick ? 0.01 : 0.5);
      std::fprintf(stderr, "%-12s %5zu copies %12.0f steps/s\n", name.c_str(), copies, rate);
      json += (json.empty() ? "{\"" : ", \"") + name + "/" + std::to_string(copies) + "\": " + std::to_string(rate);
    }
  }
  std::printf("%s}\n", json.c_str());
}

// The curves of whole runs: a training on four nodes, one of which is restarted in the middle, that is resumed later.
// Each step is there once, for lp and for TensorBoard.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "launchers/record/saved_curves.h"
#include "launchers/run.h"
#include "lp/base/json.h"
#include "lp/base/json_value.h"
#include "lp/checkpoint/checkpoint.h"
#include "lp/lp.h"
#include "tests/directory.h"
#include "tests/launchers/tools_for_test.h"

namespace lp::test {
namespace {

constexpr std::uint64_t kFirstEnd = 120;
constexpr std::uint64_t kLastEnd = 200;

// Makes steps whose loss is a function of the step. The third of the first run fails once.
class Trainee {
 public:
  Trainee(int index, std::uint64_t steps) : index_(index), steps_(steps) {}
  void run(Context& context) {
    while (done_ < steps_) {
      const std::uint64_t step = done_ + 1;
      context.report({.step = step,
                      .total = steps_,
                      .values = {{"loss", 1.0 / static_cast<double>(step)}},
                      .histograms = {{"weights", histogram_of(std::vector<double>{0, static_cast<double>(step)})}},
                      .texts = {{"sample", "step " + std::to_string(step)}}});
      if (index_ == 2 && steps_ == kFirstEnd && step == 57 && context.incarnation() == 1) {
        throw std::runtime_error("it fails once");
      }
      context.exclusive([&] { done_ = step; });
      if (step % 10 == 0) context.checkpoint(step);
    }
  }
  void save(Checkpoint& out) const { out.put("done", done_); }
  void load(const Checkpoint& in) { done_ = in.get<std::uint64_t>("done"); }
  using Remote = Methods<>;

 private:
  const int index_;
  const std::uint64_t steps_;
  std::uint64_t done_ = 0;
};

void train(std::uint64_t steps, const std::filesystem::path& directory, const std::filesystem::path& resume = {}) {
  Program program("training");
  program.group<Trainee>({.name = "trainee", .replicas = 4, .on_failure = restart(1), .ends_program = true}, lp::index,
                         steps);
  LaunchOptions options;
  options.directory = directory;
  options.resume = resume;
  Run run(std::move(program), options);
  EXPECT_TRUE(run.wait().success) << run.wait().cause.text();
}

class CurvesOfRuns : public testing::Test {
 protected:
  CurvesOfRuns() {
    train(kFirstEnd, directory_.path() / "first");
    train(kLastEnd, directory_.path() / "second", directory_.path() / "first");
  }
  static void expect_all(const std::vector<std::uint64_t>& steps, std::uint64_t last) {
    ASSERT_EQ(steps.size(), last);
    for (std::uint64_t i = 0; i < last; ++i) EXPECT_EQ(steps[i], i + 1);
  }

  const Directory directory_;
};
using CurvesOfRunsLong = CurvesOfRuns;

TEST_F(CurvesOfRuns, EachStepIsThereOnceAfterARestartAndAResume) {
  for (const auto& [run, last] : {std::pair("first", kFirstEnd), std::pair("second", kLastEnd)}) {
    auto nodes = launch::read_curves(directory_.path() / run);
    ASSERT_EQ(nodes.size(), 4U);
    for (auto& [node, curves] : nodes) {
      std::vector<std::uint64_t> steps;
      for (const SavedPoint& point : curves["loss"]) steps.push_back(point.step);
      expect_all(steps, last);
    }
  }
}

// LP_TENSORBOARD names a virtual environment with TensorBoard.
TEST_F(CurvesOfRunsLong, TensorBoardShowsEachStepOnce) {
  const char* const environment = std::getenv("LP_TENSORBOARD");
  const std::string python = environment == nullptr ? "python3" : std::string(environment) + "/bin/python";
  if (command(python + " -c 'import tensorboard'").code != 0) {
    GTEST_SKIP() << "there is no TensorBoard: `tools/test --all` installs it, or python3 -m venv V; V/bin/pip install "
                    "tensorboard; export LP_TENSORBOARD=V";
  }
  const std::string script = std::filesystem::path(__FILE__).parent_path() / "tensorboard_steps.py";
  const Ended shown = command(python + " '" + script + "' '" + directory_.path().string() + "' 2>/dev/null");
  ASSERT_EQ(shown.code, 0) << shown.output;
  const JsonValue all = JsonValue::parse(shown.output);
  for (const auto& [run, last] : {std::pair("first", kFirstEnd), std::pair("second", kLastEnd)}) {
    for (int node = 0; node < 4; ++node) {
      const JsonValue* const steps = all.find(std::string(run) + "/curves/trainee/" + std::to_string(node));
      ASSERT_NE(steps, nullptr) << shown.output;
      expect_all(from_json<std::vector<std::uint64_t>>(*steps->find("loss")), last);
      expect_all(from_json<std::vector<std::uint64_t>>(*steps->find("weights")), last);
      const auto texts = from_json<std::vector<std::string>>(*steps->find("sample"));
      ASSERT_EQ(texts.size(), last);
      for (std::uint64_t i = 0; i < last; ++i) EXPECT_EQ(texts[i], "step " + std::to_string(i + 1));
      EXPECT_EQ(to_json(from_json<std::vector<std::string>>(*steps->find("plugins"))),
                R"(["histograms","scalars","text"])");
    }
  }
}

}  // namespace
}  // namespace lp::test

// Nodes that compute for others answer heartbeats meanwhile: a gradient may take longer than the heartbeat's patience.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "programs/schemes/in_graph.h"
#include "programs/schemes/pipeline.h"
#include "programs/schemes/work_units.h"
#include "tests/programs/training_run.h"

namespace lp {
namespace {

using test::digits_task;
using test::training_of;
using test::TrainingRun;

// Does the same call as a heartbeat.
void expect_alive(LocalRun& run, const std::string& node) {
  const auto alive = std::make_shared<Event>();
  run.probe(node, [alive] { alive->set(); });
  EXPECT_TRUE(alive->wait(after(std::chrono::seconds(20)))) << node;
}

struct Moment {
  Event begun;
  Event end;
};

// Its first gradient lasts until the test ends it.
class HeldMlp final : public test::TestMlp {
 public:
  explicit HeldMlp(Moment& moment) : moment_(moment) {}
  double loss(const Eigen::VectorXf& parameters, const Dataset& batch, Eigen::VectorXf& gradient) const override {
    if (!std::exchange(held_, true)) {
      moment_.begun.set();
      moment_.end.wait();
    }
    return TestMlp::loss(parameters, batch, gradient);
  }

 private:
  Moment& moment_;
  mutable bool held_ = false;
};

LearningTask held_task(Moment& moment) {
  LearningTask task = digits_task();
  task.model = [&moment] { return std::make_unique<HeldMlp>(moment); };
  return task;
}

class SlowReplica : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Schemes, SlowReplica, testing::Bool(),
                         [](const auto& one) { return one.param ? "WorkUnits" : "InGraph"; });

TEST_P(SlowReplica, AnswersHeartbeats) {
  Moment moment;
  TrainingRun run([&](Program& program) {
    if (GetParam()) return add_work_unit_training(program, held_task(moment), training_of(1, 3), 2);
    return add_in_graph_training(program, held_task(moment), training_of(1, 3));
  });
  EXPECT_TRUE(moment.begun.wait(after(std::chrono::seconds(20))));
  expect_alive(run.run(), "replica/0");
  expect_alive(run.run(), "worker/0");
  moment.end.set();
  run.finish();
}

TEST(SlowGradient, MayTakeLongerThanACallWhoseMethodSaysNothing) {
  Moment moment;
  Program program("replica");
  const auto replica = program.add<GradientReplica>({.name = "replica"}, held_task(moment));
  Runtime::Options options;
  options.run.deadline = std::chrono::milliseconds(20);
  LocalRun run(program, options);
  const Dataset data = digits_task().data(test::kSeed);
  const Eigen::VectorXf parameters = digits_task().model()->initialize(test::kSeed);
  Future<BatchGradient> gradient = run.client(replica).async<&GradientReplica::gradient>(parameters, data);
  EXPECT_FALSE(gradient.wait_for(std::chrono::milliseconds(100)));
  moment.end.set();
  EXPECT_EQ(gradient.get().examples, data.examples());
}

TEST(SlowStage, AnswersHeartbeats) {
  constexpr Eigen::Index kExamples = 512;
  const std::vector<Eigen::Index> units{64, 1024, 1024, 10};
  const LearningTask task{.model = [&] { return std::make_unique<Mlp>(units, Activation::tanh); },
                          .data = digits_task().data};
  Program program("training");
  add_pipeline_training(program, task, training_of(1, 0), {.units = units, .stages = 1});
  LocalRun run(program);
  run.wait_finished();
  const auto stage = run.client(GroupHandle<PipelineStage>("stage", 1))[0];
  const Dataset data = task.data(test::kSeed);
  Future<MicroResult> result = stage.async<&PipelineStage::pass>(
      MicroBatch{.inputs = data.features.leftCols(kExamples), .labels = data.labels.head(kExamples)});
  const Time begin = now();
  Duration longest{};
  while (!result.ready()) {
    const Time asked = now();
    expect_alive(run, "stage/0");
    longest = std::max(longest, now() - asked);
  }
  EXPECT_LT(longest, (now() - begin) / 2) << "a heartbeat waited for the gradient";
  EXPECT_GT(result.get().loss, 0);
}

}  // namespace
}  // namespace lp

// The state of workers is in the program's cuts, residuals of compression or all parameters: a node that goes back
// changes no bit.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lp/checkpoint/cut.h"
#include "programs/models/linear.h"
#include "programs/schemes/asynchronous.h"
#include "programs/schemes/in_graph.h"
#include "programs/schemes/one_bit.h"
#include "programs/schemes/outer_product.h"
#include "programs/schemes/partitioned.h"
#include "programs/schemes/stale_synchronous.h"
#include "programs/training/synchronous.h"
#include "tests/directory.h"
#include "tests/programs/training_run.h"

namespace lp {
namespace {

using test::digits_task;
using test::training_of;
using test::TrainingRun;

constexpr std::uint64_t kResidualSteps = 150;
constexpr int kServers = 2;

struct Case {
  const char* name;
  CompressionOptions compression;
  std::function<TrainingGraph(Program&, const LearningTask&, const ServerTraining&)> add;
  std::vector<std::string> members;  // members of the cuts, beside the servers
};

TrainingGraph synchronous(Program& program, const LearningTask& task, const ServerTraining& training) {
  return add_synchronous_training(program, task, training);
}

TrainingGraph partitioned(Program& program, const LearningTask& task, const ServerTraining& training) {
  return add_partitioned_training(program, task, training, {.bytes = 1000, .credit = 2000});
}

const std::vector<std::string> kWorkers{"worker/0", "worker/1", "worker/2"};
const Case kCases[] = {
    {"OneBit", {.kind = Compression::one_bit}, synchronous, kWorkers},
    {"TopK", {.kind = Compression::top_k, .share = 0.05}, synchronous, kWorkers},
    {"RandomK", {.kind = Compression::random_k, .share = 0.05}, synchronous, kWorkers},
    {"Significant", {.kind = Compression::significant, .threshold = 0.1F}, synchronous, kWorkers},
    {"Dither", {.kind = Compression::dither}, synchronous, kWorkers},
    {"InGraph",
     {.kind = Compression::top_k, .share = 0.05},
     [](Program& program, const LearningTask& task, const ServerTraining& training) {
       return add_in_graph_training(program, task, training);
     },
     {"worker/0"}},
    {"Partitioned", {}, partitioned, kWorkers},
    {"PartitionedTopK", {.kind = Compression::top_k, .share = 0.05}, partitioned, kWorkers},
    {"OneBitScheme",
     {},
     [](Program& program, const LearningTask& task, const ServerTraining& training) {
       return add_one_bit_training(program, task, training);
     },
     kWorkers},
};

class Residuals : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Schemes, Residuals, testing::ValuesIn(kCases), [](const auto& one) { return one.param.name; });

TEST_P(Residuals, MembersThatGoBackToACutChangeNoBit) {
  ServerTraining training = training_of(3, kResidualSteps, 0.1F, kServers);
  training.compression = GetParam().compression;
  const TrainingRun::Add add = [&](Program& program) { return GetParam().add(program, digits_task(), training); };
  const std::string expected = parameters_hash(TrainingRun(add).result().values);

  std::vector<std::string> members = GetParam().members;
  for (int i = 0; i < kServers; ++i) members.push_back("server/" + std::to_string(i));
  const test::Directory directory;
  TrainingRun run(add, /*serialize=*/false, directory.path());
  run.run().wait_saved(100, members.size());
  run.run().restart(members, cut_directory(directory.path(), 100));
  EXPECT_EQ(parameters_hash(run.result().values), expected);
  run.run().restart(members);  // there was no cut yet
  EXPECT_EQ(parameters_hash(run.result().values), expected);
}

LearningTask sparse_task() {
  return {.model = [] { return std::make_unique<LinearModel>(64, 10); },
          .data = [](std::uint64_t seed) { return sparsified(split(digits(), seed).train); }};
}

// The residuals are those of all rows.
TEST(CompressionOfRows, PushesAllRowsOfASparseModel) {
  ServerTraining training = training_of(1, 20);
  training.compression = {.kind = Compression::top_k, .share = 0.1};
  TrainingRun run([&](Program& program) { return add_asynchronous_training(program, sparse_task(), training); });
  run.finish();
  constexpr std::uint64_t kKept = 65;  // 65 rows of 10, each with its index
  EXPECT_EQ(run.workers()[0].call<&TrainingWorker::statistics>().bytes_sent, 20 * kKept * 8);
}

TEST(CompressionOfRows, IsRefusedByASchemeThatPushesOnlyRows) {
  ServerTraining training = training_of(2, 20);
  for (const CompressionOptions& options :
       {CompressionOptions{.kind = Compression::top_k}, CompressionOptions{.clip = 1}}) {
    training.compression = options;
    Program program("training");
    EXPECT_THROW(add_stale_synchronous_training(program, digits_task(), training, 1), Error);
    EXPECT_THROW(add_outer_product_training(program, digits_task(), training, {.units = {64, 10}}), Error);
  }
}

}  // namespace
}  // namespace lp

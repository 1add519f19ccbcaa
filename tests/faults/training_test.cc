// A server is killed in the last moment in which that matters: when some workers have finished and others have not.

#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <string>
#include <vector>

#include "launchers/test_launcher.h"
#include "programs/mlp.h"
#include "programs/synchronous.h"
#include "programs/worker.h"
#include "tests/faults/programs_for_test.h"
#include "tests/launchers/tools_for_test.h"

namespace lp::test {
namespace {

using std::chrono::seconds;

constexpr int kServers = 2;
constexpr int kWorkers = 3;
const ServerTraining kTraining{
    .workers = kWorkers, .servers = kServers, .steps = 60, .rule = Momentum{.rate = 0.05F}, .cut_every = 25};

const LearningTask kTask{.model =
                             [] {
                               return std::make_unique<Mlp>(std::vector<Eigen::Index>{64, 8, 10}, Activation::tanh);
                             },
                         .data = [](std::uint64_t) { return digits(); }};

std::vector<Tensor> make_tensors() {
  const auto size = static_cast<std::uint64_t>(kTask.model()->size());
  return {dense_tensor(kTask, Partition::ring(size, kServers))};
}

// Holds the last worker back, until the test lets it finish.
class Gate {
 public:
  Future<void> passed() {
    waiting_.emplace_back();
    if (open_) waiting_.back().set_value();
    return waiting_.back().future();
  }
  void open() {
    open_ = true;
    for (Promise<void>& one : waiting_) one.set_value();
    waiting_.clear();
  }
  using Remote = Methods<idempotent<&Gate::passed>, &Gate::open>;

 private:
  bool open_ = false;
  std::vector<Promise<void>> waiting_;
};

// worker/0 has done all steps, but not finished, while it waits at the gate.
class Worker {
 public:
  Worker(Context& context, Clients<ParameterService> servers, Client<Gate> gate)
      : training_(context, std::move(servers), make_tensors(), kTask, kTraining, synchronous_scheme(kTraining)),
        gate_(gate) {}
  void run(Context& context) {
    training_.run(context);
    if (context.index() > 0) return;
    gate_.call<&Gate::passed>();
    training_.run(context);
  }

 private:
  TrainingWorker training_;
  Client<Gate> gate_;
};

const Handle<Gate> kGate("gate");

bool finished(lp::Run& run, int workers) {
  int count = 0;
  for (const NodeStatus& node : run.status().nodes) count += node.state == NodeStatus::State::finished;
  return count == workers;
}

NodeStatus status_of(lp::Run& run, const std::string& name) {
  for (const NodeStatus& node : run.status().nodes) {
    if (node.name == name) return node;
  }
  return {};
}

// The parameters in the end. `disturb` is called when all workers but one have finished.
template <class F>
std::string train(F disturb) {
  const Directory directory;
  const Config config;
  LaunchOptions options = processes(config, "training");
  options.directory = directory.path();
  std::string hash;
  options.report = [&](lp::Run& run) {
    const Parameters parameters = latest_parameters(run.client(GroupHandle<ParameterServer>("server", kServers)));
    EXPECT_EQ(parameters.step, kTraining.steps);
    hash = parameters_hash(parameters.values);
  };
  TestRun run(make_training(config), options);
  const Time end = after(seconds(60));
  while (!finished(run, kWorkers - 1)) {
    if (now() > end || run.wait_for(Duration::zero())) {
      ADD_FAILURE() << "the workers do not finish: " << run.status().nodes.back().text;
      return hash;
    }
  }
  disturb(run);
  run.client(kGate).call<&Gate::open>();
  EXPECT_TRUE(run.wait().success) << run.wait().cause.text();
  return hash;
}

TEST(Training, AServerThatIsKilledWhenSomeWorkersHaveFinishedChangesNoBit) {
  const std::string hash = train([](lp::Run&) {});
  EXPECT_EQ(hash, train([](lp::Run& run) {
              ASSERT_EQ(status_of(run, "worker/0").state, NodeStatus::State::running);
              ASSERT_EQ(kill(status_of(run, "server/1").pid, SIGKILL), 0);
              for (const char* node : {"server/0", "server/1", "worker/1", "worker/2"}) {
                while (status_of(run, node).incarnation < 2 && !run.wait_for(Duration::zero())) {
                }
              }
              EXPECT_EQ(status_of(run, "worker/0").incarnation, 1u) << "it has not finished, and needs no restart";
            }));
}

}  // namespace

Program make_training(const Config&) {
  Program program("training");
  const Scheme scheme = synchronous_scheme(kTraining);
  const auto gate = program.add<Gate>({.name = "gate"});
  const auto servers = program.group<ParameterServer>(
      {.name = "server", .replicas = kServers, .on_failure = restart(3, Duration::zero())}, context, make_tensors(),
      ParameterServerOptions{.shard = {.rule = scheme.rule, .consistency = scheme.consistency, .workers = kWorkers},
                             .cut_every = kTraining.cut_every,
                             .last_step = kTraining.steps},
      GroupHandle<ParameterServer>("server", 0));
  GroupOptions workers{.name = "worker", .replicas = kWorkers, .on_failure = restart(3)};
  workers.ends_program = true;
  program.group<Worker>(workers, context, GroupHandle<ParameterService>(servers), gate);
  return program;
}

}  // namespace lp::test

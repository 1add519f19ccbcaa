// A server is killed at the last moment at which that matters: some workers have finished and others have not.

#include "programs/training/training.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "launchers/test_run.h"
#include "lp/base/error.h"
#include "programs/models/mlp.h"
#include "programs/training/synchronous.h"
#include "tests/directory.h"
#include "tests/faults/programs_for_test.h"
#include "tests/launchers/tools_for_test.h"

namespace lp::test {
namespace {

using std::chrono::seconds;
using State = NodeStatus::State;

const ServerTraining kTraining{
    .workers = 3, .servers = 2, .steps = 60, .rule = Momentum{.rate = 0.05F}, .checkpoint_every = 25, .restarts = 3};
const LearningTask kTask{.model =
                             [] {
                               return std::make_unique<Mlp>(std::vector<Eigen::Index>{64, 8, 10}, Activation::tanh);
                             },
                         .data = [](std::uint64_t) { return digits(); }};

// The first worker that has done its steps waits at the gate, a named pipe, before it finishes. Then it asks once more
// for the servers' positions, like a worker that has lost its servers.
class HeldExchange final : public Exchange {
 public:
  HeldExchange(std::unique_ptr<Exchange> inner, std::string directory)
      : inner_(std::move(inner)), directory_(std::move(directory)) {}
  std::uint64_t begin() override { return inner_->begin(); }
  const Eigen::VectorXf& parameters(std::uint64_t step, const Rows& rows) override {
    return inner_->parameters(step, rows);
  }
  std::uint64_t push(std::uint64_t step, const Rows& rows, const BatchGradient& batch) override {
    return inner_->push(step, rows, batch);
  }
  void end() override {
    const int first = open((directory_ + "/held").c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (first < 0) return inner_->end();
    close(first);
    close(open((directory_ + "/gate").c_str(), O_RDONLY | O_CLOEXEC));  // waits until somebody opens it to write
    throw Error(ErrorKind::disconnected, "it lost the servers");
  }

 private:
  const std::unique_ptr<Exchange> inner_;
  const std::string directory_;
};

std::size_t count(lp::Run& run, State state) {
  std::size_t nodes = 0;
  for (const NodeStatus& node : run.status().nodes) nodes += node.name.starts_with("worker/") && node.state == state;
  return nodes;
}

NodeStatus status_of(lp::Run& run, const std::string& name) {
  for (const NodeStatus& node : run.status().nodes) {
    if (node.name == name) return node;
  }
  return {};
}

// The final parameters. `disturb` is called when all workers except one have finished.
template <class F>
std::string train(F disturb) {
  const Directory directory;
  const Config config{.log = directory.path()};
  const std::string gate = directory.path() / "gate";
  EXPECT_EQ(mkfifo(gate.c_str(), 0600), 0);
  LaunchOptions options = processes(config, "training");
  options.directory = directory.path() / "run";
  std::string hash;
  options.report = [&](lp::Run& run) {
    const GroupHandle<ParameterServer> servers("server", kTraining.servers);
    const Parameters parameters = latest_parameters(run.client(servers));
    EXPECT_EQ(parameters.step, kTraining.steps);
    hash = parameters_hash(parameters.values);
  };
  TestRun run(make_training(config), options);
  const Time end = after(seconds(60));
  while (count(run, State::finished) < 2) {
    if (now() > end || run.wait_for(Duration::zero())) {
      ADD_FAILURE() << "the workers do not finish: " << run.status().nodes.back().text;
      return hash;
    }
  }
  EXPECT_EQ(count(run, State::running), 1u);
  disturb(run);
  std::ofstream(gate).close();
  EXPECT_TRUE(run.wait().success) << run.wait().cause.text();
  return hash;
}

TEST(Training, AServerThatIsKilledWhenSomeWorkersHaveFinishedChangesNoBit) {
  const std::string hash = train([](lp::Run&) {});
  EXPECT_EQ(hash, train([](lp::Run& run) {
              ASSERT_EQ(kill(status_of(run, "server/1").pid, SIGKILL), 0);
              // The finished workers work again; the unfinished one goes on.
              const auto restarted = [&] {
                int nodes = 0;
                for (const NodeStatus& node : run.status().nodes) nodes += node.incarnation == 2;
                return nodes;
              };
              while (restarted() < 4 && !run.wait_for(Duration::zero())) {
              }
              EXPECT_EQ(restarted(), 4);
            }));
}

}  // namespace

Program make_training(const Config& config) {
  Program program("training");
  Scheme scheme = synchronous_scheme(kTraining);
  scheme.exchange = [make = scheme.exchange, directory = config.log](const ExchangeParts& parts) {
    return std::make_unique<HeldExchange>(make(parts), directory);
  };
  add_server_training(program, kTask, kTraining, scheme);
  return program;
}

}  // namespace lp::test

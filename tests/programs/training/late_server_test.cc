// A server that goes back when its workers have pushed all and have not ended yet: they do again what it has lost.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>

#include "programs/schemes/asynchronous.h"
#include "programs/schemes/bounded_delay.h"
#include "programs/schemes/softsync.h"
#include "programs/schemes/stale_synchronous.h"
#include "programs/training/synchronous.h"
#include "tests/programs/training_run.h"

namespace lp {
namespace {

using test::digits_task;
using test::training_of;
using test::TrainingRun;

struct Moment {
  Event reached;
  Event go;
};

// An exchange that waits when its worker has done all steps, the first time.
class HeldAtEnd final : public Exchange {
 public:
  HeldAtEnd(std::unique_ptr<Exchange> exchange, Moment& moment) : exchange_(std::move(exchange)), moment_(moment) {}

  std::uint64_t begin() override { return exchange_->begin(); }
  const Eigen::VectorXf& parameters(std::uint64_t step, const Rows& rows) override {
    return exchange_->parameters(step, rows);
  }
  std::uint64_t push(std::uint64_t step, const Rows& rows, const BatchGradient& batch) override {
    return exchange_->push(step, rows, batch);
  }
  void end() override {
    if (!std::exchange(held_, true)) {
      moment_.reached.set();
      moment_.go.wait();
    }
    exchange_->end();
  }

 private:
  const std::unique_ptr<Exchange> exchange_;
  Moment& moment_;
  bool held_ = false;
};

struct LateCase {
  const char* name;
  std::function<Scheme(const ServerTraining&)> scheme;
};
const LateCase kLateCases[] = {
    {"Synchronous", [](const ServerTraining& training) { return synchronous_scheme(training); }},
    {"Asynchronous", [](const ServerTraining& training) { return asynchronous_scheme(training); }},
    {"BoundedDelay", [](const ServerTraining& training) { return bounded_delay_scheme(training, 1); }},
    {"StaleSynchronous", [](const ServerTraining& training) { return stale_synchronous_scheme(training, 1); }},
    {"Tree", [](const ServerTraining& training) { return softsync_scheme(training, 1, /*leaves=*/1); }},
};

class LateServer : public testing::TestWithParam<LateCase> {};
INSTANTIATE_TEST_SUITE_P(Schemes, LateServer, testing::ValuesIn(kLateCases),
                         [](const auto& one) { return one.param.name; });

TEST_P(LateServer, ThatLosesPushesGetsThemAgainBeforeItsWorkerEnds) {
  Moment moment;
  const ServerTraining training = training_of(1, 30);
  Scheme scheme = GetParam().scheme(training);
  scheme.exchange = [make = scheme.exchange, &moment](const ExchangeParts& parts) {
    return std::make_unique<HeldAtEnd>(make(parts), moment);
  };
  TrainingRun run([&](Program& p) { return add_server_training(p, digits_task(), training, scheme); });
  EXPECT_TRUE(moment.reached.wait(after(std::chrono::seconds(20))));
  run.run().restart({"server/0"});
  moment.go.set();
  EXPECT_EQ(run.result().step, 30U);
}

}  // namespace
}  // namespace lp

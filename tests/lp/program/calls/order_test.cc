// One caller's calls of a service are executed in the order in which they were made, also around a restart, on every
// path.

#include <gtest/gtest.h>

#include <mutex>
#include <numeric>
#include <vector>

#include "lp/lp.h"
#include "tests/lp/program/on_each_path.h"

namespace lp {
namespace {

constexpr int kCalls = 40000;

struct Log {
  std::mutex mutex;
  std::vector<int> numbers{};  // executed by later incarnations
  Event inside{};              // the first handler of the first incarnation is inside, and stays there
  Event again{};               // a later incarnation has begun with the calls that waited for it
};

class OrderedService {
 public:
  OrderedService(Context& context, Log* log) : context_(context), log_(*log) {}
  int note(int number) {
    if (context_.incarnation() == 1) {
      Promise<void> never;
      log_.inside.set();
      never.future().get();
    }
    const std::lock_guard lock(log_.mutex);
    if (log_.numbers.empty()) log_.again.set();
    log_.numbers.push_back(number);
    return number;
  }
  using Remote = Methods<once<&OrderedService::note>>;

 private:
  Context& context_;
  Log& log_;
};

class Order : public ::testing::TestWithParam<Reach> {};
INSTANTIATE_TEST_SUITE_P(Paths, Order, kEachPath, reach_name);

TEST_P(Order, IsKeptAroundARestart) {
  Log log;
  Program program("order");
  const auto service = program.add<OrderedService>({.name = "service"}, context, &log);
  ReachedRun run(program, GetParam());
  const auto client = run.client(service);
  std::vector<Future<int>> replies;
  Event half;
  {
    const Thread caller = spawn("caller", [&] {
      for (int number = 0; number < kCalls; ++number) {
        if (number == kCalls * 3 / 4) log.again.wait();  // most of those before are still on their way
        replies.push_back(client.async<&OrderedService::note>(number));
        if (number == kCalls / 2) half.set();
      }
      client.call<&OrderedService::note>(kCalls);
    });
    log.inside.wait();
    half.wait();
    run.restart();  // while the caller goes on
  }
  for (int number = 0; number < kCalls; ++number) EXPECT_EQ(replies.at(static_cast<std::size_t>(number)).get(), number);
  const std::lock_guard lock(log.mutex);
  std::vector<int> expected(kCalls + 1);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(log.numbers, expected);
}

}  // namespace
}  // namespace lp

// When the system has no thread left for a handler, that call fails, and its service goes on.

#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <vector>

#include "lp/lp.h"
#include "tests/lp/program/in_child.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

constexpr unsigned kPatience = 60;  // seconds
constexpr std::size_t kServices = 16;

class Resting {
 public:
  explicit Resting(Event* release) : release_(*release) {}
  int rest() {
    release_.wait(after(std::chrono::seconds(kPatience)));
    return 1;
  }
  int answer() { return 2; }
  using Remote = Methods<&Resting::rest, &Resting::answer>;

 private:
  Event& release_;
};

// The services rest until there is no thread left. Those that found one answer later, and all are there again.
bool fails_alone(bool serialize) {
  alarm(kPatience);
  std::vector<Event> release(kServices);
  Program program("threads");
  std::vector<Handle<Resting>> services;
  for (std::size_t i = 0; i < kServices; ++i) {
    services.push_back(program.add<Resting>({.name = "service-" + std::to_string(i)}, &release[i]));
  }
  Runtime::Options options;
  options.run.serialize = serialize;
  LocalRun run(program, options);
  const std::filesystem::directory_iterator threads("/proc/self/task");
  const auto count = static_cast<std::size_t>(std::distance(begin(threads), end(threads)));
  rlimit before{};
  getrlimit(RLIMIT_NPROC, &before);
  if (!become_somebody() || !limit(RLIMIT_NPROC, count, Limit::soft)) return false;
  std::vector<Future<int>> resting;
  resting.reserve(kServices);
  for (const auto& service : services) resting.push_back(run.client(service).async<&Resting::rest>());
  for (Event& one : release) one.set();
  std::size_t refused = 0;
  for (Future<int>& one : resting) {
    try {
      if (one.get() != 1) return false;
    } catch (const Error& error) {
      ++refused;
      if (error.text().find("ulimit -u") == std::string::npos || error.may_have_run()) return false;
    }
  }
  if (!limit(RLIMIT_NPROC, before.rlim_max, Limit::soft)) return false;
  for (const auto& service : services) {
    if (run.client(service).call<&Resting::answer>() != 2) return false;
  }
  return serialize ? refused > 0 : true;
}

TEST(WithoutThreads, ACallThatFindsNoThreadFailsAndItsServiceGoesOn) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  EXPECT_EQ(in_child([] { return fails_alone(/*serialize=*/true); }), 0);
  EXPECT_EQ(in_child([] { return fails_alone(/*serialize=*/false); }), 0);
}

}  // namespace
}  // namespace lp

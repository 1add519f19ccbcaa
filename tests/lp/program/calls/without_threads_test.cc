// When the system has no thread left for a handler, that call fails, and its service goes on.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lp/lp.h"
#include "tests/lp/program/in_child.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

constexpr unsigned kPatience = 60;      // seconds
constexpr std::size_t kServices = 200;  // more than the threads that were needed to start them

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

// Lets `f` run in a child where no thread can be started. `f` gets clients of all services, and releases those that
// rest.
template <class F>
bool without_threads(bool serialize, F f) {
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
  std::vector<Client<Resting>> clients;
  for (const auto& service : services) clients.push_back(run.client(service));
  for (const auto& client : clients) client.call<&Resting::answer>();  // the process has all threads of its own now
  rlimit before{};
  getrlimit(RLIMIT_NPROC, &before);
  if (!become_somebody() || !limit(RLIMIT_NPROC, 1, Limit::soft)) return false;
  if (!f(clients, release)) return false;
  if (!limit(RLIMIT_NPROC, before.rlim_max, Limit::soft)) return false;
  return std::all_of(clients.begin(), clients.end(),
                     [](auto& one) { return one.template call<&Resting::answer>() == 2; });
}

// More services rest than there are idle threads.
bool refuses_the_rest(const std::vector<Client<Resting>>& clients, std::vector<Event>& release) {
  std::vector<Future<int>> resting;
  resting.reserve(kServices);
  for (const auto& client : clients) resting.push_back(client.async<&Resting::rest>());
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
  return refused > 0;
}

TEST(WithoutThreads, ACallThatFindsNoThreadFailsAndItsServiceGoesOn) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  EXPECT_EQ(in_child([] { return without_threads(/*serialize=*/true, refuses_the_rest); }), 0);
}

TEST(WithoutThreads, ACallOfThisProcessRunsInItsCallersThread) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  const auto all_answer = [](const std::vector<Client<Resting>>& clients, std::vector<Event>&) {
    return std::all_of(clients.begin(), clients.end(), [](const auto& one) {
      Future<int> first = one.template async<&Resting::answer>();
      Future<int> second = one.template async<&Resting::answer>();
      return first.get() == 2 && second.get() == 2;
    });
  };
  EXPECT_EQ(in_child([&] { return without_threads(/*serialize=*/false, all_answer); }), 0);
}

}  // namespace
}  // namespace lp

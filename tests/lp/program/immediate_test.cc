// Immediate methods run beside the turn, in the thread of their caller, and may return futures.

#include <gtest/gtest.h>

#include <cstdint>
#include <mutex>
#include <optional>

#include "lp/lp.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

// A number that only the current thread has.
std::uint64_t this_thread() {
  static thread_local char place;
  return reinterpret_cast<std::uintptr_t>(&place);
}

class Service {
 public:
  // Keeps the turn until release().
  void hold() { released_.wait(); }
  std::uint64_t release() {
    released_.set();
    return this_thread();
  }
  Future<int> wait_for_number() {
    const std::lock_guard lock(mutex_);
    promise_.emplace();
    return promise_->future();
  }
  void set_number(int number) {
    const std::lock_guard lock(mutex_);
    promise_->set_value(number);
  }
  using Remote =
      Methods<&Service::hold, immediate<&Service::release>,
              deadline<idempotent<immediate<&Service::wait_for_number>>, 5_s>, immediate<&Service::set_number>>;

 private:
  Event released_{};
  std::mutex mutex_{};
  std::optional<Promise<int>> promise_{};
};

TEST(Immediate, RunsInTheThreadOfItsCallerWhileTheTurnIsHeld) {
  Program program("immediate");
  const auto service = program.add<Service>({.name = "service"});
  LocalRun run(program);
  const auto client = run.client(service);
  Future<void> held = client.async<&Service::hold>();
  EXPECT_EQ(client.call<&Service::release>(), this_thread());
  held.get();
}

TEST(Immediate, AFutureIsReadyWhenAnotherCallCompletesIt) {
  Program program("immediate");
  const auto service = program.add<Service>({.name = "service"});
  LocalRun run(program);
  const auto client = run.client(service);
  Future<void> held = client.async<&Service::hold>();
  Future<int> number = client.async<&Service::wait_for_number>();
  EXPECT_FALSE(number.ready());
  client.call<&Service::set_number>(7);
  EXPECT_EQ(number.get(), 7);
  client.call<&Service::release>();
  held.get();
}

TEST(Immediate, CallsAsBytesRunBesideTheTurnToo) {
  Program program("immediate");
  const auto service = program.add<Service>({.name = "service"});
  Runtime::Options options;
  options.run.serialize = true;
  LocalRun run(program, options);
  const auto client = run.client(service);
  Future<void> held = client.async<&Service::hold>();
  Future<int> number = client.async<&Service::wait_for_number>();
  client.call<&Service::set_number>(8);
  EXPECT_EQ(number.get(), 8);
  client.call<&Service::release>();
  held.get();
}

}  // namespace
}  // namespace lp

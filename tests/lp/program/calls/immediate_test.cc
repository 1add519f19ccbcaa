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

class ImmediateService {
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
  using Remote = Methods<&ImmediateService::hold, immediate<&ImmediateService::release>,
                         deadline<idempotent<immediate<&ImmediateService::wait_for_number>>, 5_s>,
                         immediate<&ImmediateService::set_number>>;

 private:
  Event released_{};
  std::mutex mutex_{};
  std::optional<Promise<int>> promise_{};
};

TEST(Immediate, RunsInTheThreadOfItsCallerWhileTheTurnIsHeld) {
  Program program("immediate");
  const auto service = program.add<ImmediateService>({.name = "service"});
  LocalRun run(program);
  const auto client = run.client(service);
  Future<void> held = client.async<&ImmediateService::hold>();
  EXPECT_EQ(client.call<&ImmediateService::release>(), this_thread());
  held.get();
}

TEST(Immediate, AFutureIsReadyWhenAnotherCallCompletesIt) {
  Program program("immediate");
  const auto service = program.add<ImmediateService>({.name = "service"});
  LocalRun run(program);
  const auto client = run.client(service);
  Future<void> held = client.async<&ImmediateService::hold>();
  Future<int> number = client.async<&ImmediateService::wait_for_number>();
  EXPECT_FALSE(number.ready());
  client.call<&ImmediateService::set_number>(7);
  EXPECT_EQ(number.get(), 7);
  client.call<&ImmediateService::release>();
  held.get();
}

TEST(Immediate, CallsAsBytesRunBesideTheTurnToo) {
  Program program("immediate");
  const auto service = program.add<ImmediateService>({.name = "service"});
  Runtime::Options options;
  options.run.serialize = true;
  LocalRun run(program, options);
  const auto client = run.client(service);
  Future<void> held = client.async<&ImmediateService::hold>();
  Future<int> number = client.async<&ImmediateService::wait_for_number>();
  client.call<&ImmediateService::set_number>(8);
  EXPECT_EQ(number.get(), 8);
  client.call<&ImmediateService::release>();
  held.get();
}

}  // namespace
}  // namespace lp

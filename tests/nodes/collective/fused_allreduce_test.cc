// Tensors that are summed while the next ones are computed: the sums, which tensors are summed together and when, and
// failures.
#include "nodes/collective/fused_allreduce.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tests/lp/program/local_run.h"
#include "tests/nodes/summing.h"

namespace lp::test {
namespace {

constexpr Duration kAtOnce = Duration::zero();
const Which kTwo{0, 1};

// The sum of the two workers' tensors.
Values sum_of(std::uint32_t tensor) { return serial_sums(kTwo, whole)[tensor]; }

// Workers that have joined.
class Workers {
 public:
  explicit Workers(int count, const SummingOptions& options = {}, bool serialize = false)
      : handles_(add_summing(program_, count, options)) {
    Runtime::Options runtime;
    runtime.run.serialize = serialize;
    run_.emplace(program_, runtime);
    all().all<&Summing::join>();
  }
  LocalRun& run() { return *run_; }
  Clients<Summing> all() { return run_->client(handles_); }
  Client<Summing> at(std::size_t worker) { return all()[worker]; }
  void start(std::size_t worker, std::uint32_t tensor) {
    at(worker).call<&Summing::start>(tensor, whole(worker, tensor));
  }
  Values values(std::size_t worker, std::uint32_t tensor) { return at(worker).call<&Summing::values>(tensor); }
  // The errors of all workers that wait now.
  std::vector<Error> errors() {
    std::vector<Error> out;
    for (const auto& one : all().outcomes<&Summing::wait>()) {
      if (!one) out.push_back(one.error());
    }
    return out;
  }

 private:
  Program program_{"summing"};
  GroupHandle<Summing> handles_;
  std::optional<LocalRun> run_;
};

std::optional<Error> error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}
void expect_error(const std::optional<Error>& error, ErrorKind kind, const std::string& text) {
  ASSERT_TRUE(error.has_value()) << text;
  EXPECT_EQ(error->kind(), kind) << error->what();
  EXPECT_NE(std::string(error->what()).find(text), std::string::npos) << error->what();
}

// ---- sums

class FusedSums : public testing::TestWithParam<std::tuple<Allreduce, int, bool>> {};

TEST_P(FusedSums, AreRightInAnyOrder) {
  const auto [how, count, serialize] = GetParam();
  Workers workers(count, {.collective = {.allreduce = how, .fusion_bytes = 64 << 10}}, serialize);
  Which ranks(static_cast<std::size_t>(count));
  std::iota(ranks.begin(), ranks.end(), 0);
  const std::vector<Values> expected = serial_sums(ranks, whole);
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_TRUE(step(workers.all(), ranks, seed, whole) == expected) << seed;
}
INSTANTIATE_TEST_SUITE_P(Algorithms, FusedSums,
                         testing::Combine(testing::Values(Allreduce::direct, Allreduce::ring, Allreduce::halving),
                                          testing::Values(1, 2, 3), testing::Bool()));

class FusedBits : public testing::TestWithParam<Allreduce> {};

TEST_P(FusedBits, DoNotDependOnWhatIsSummedTogether) {
  const CollectiveOptions how{.allreduce = GetParam(), .fusion_bytes = 1600};
  const Which five{0, 1, 2, 3, 4};
  Workers together(5, {.cycle = kForever, .collective = how});
  const std::vector<Values> expected = step(together.all(), five, 0, real);
  if (GetParam() == Allreduce::direct) {
    EXPECT_TRUE(expected == serial_sums(five, real));
  }
  Workers apart(5, {.cycle = kAtOnce, .collective = how});
  for (std::uint64_t seed = 0; seed < 10; ++seed) EXPECT_TRUE(step(apart.all(), five, seed, real) == expected) << seed;
}
INSTANTIATE_TEST_SUITE_P(Algorithms, FusedBits, testing::Values(Allreduce::direct, Allreduce::halving));

// ---- cycles

TEST(FusedCycle, WhatIsReadyInItGoesTogether) {
  Workers workers(2, {.cycle = kForever});
  for (std::uint64_t steps = 1; steps <= 2; ++steps) {
    for (std::uint32_t tensor : {4U, 0U, 3U}) {
      for (std::size_t worker : kTwo) workers.start(worker, tensor);
    }
    workers.all().all<&Summing::wait>();
    workers.at(0).call<&Summing::wait>();  // there is nothing more to wait for
    for (std::size_t worker : kTwo) {
      EXPECT_EQ(workers.at(worker).call<&Summing::operations>(), 2 * steps);  // one of them is the agreement
    }
  }
}

TEST(FusedCycle, WhatIsMoreThanABufferGoesInSeveral) {
  for (const Allreduce how : {Allreduce::direct, Allreduce::ring, Allreduce::halving}) {
    Workers workers(2, {.cycle = kForever, .collective = {.allreduce = how, .fusion_bytes = 1600}});
    for (std::size_t worker : kTwo) {
      workers.start(worker, 2);  // 1600 values
      workers.start(worker, 0);  // 100, in buffers of 400
    }
    workers.all().all<&Summing::wait>();
    for (std::size_t worker : kTwo) EXPECT_EQ(workers.at(worker).call<&Summing::operations>(), 1U + 5);
  }
}

TEST(FusedCycle, EndsByItselfWhileTheWorkerGoesOnAndALateTensorWaits) {
  Workers workers(2);
  workers.start(0, 3);
  workers.start(0, 2);  // from now on worker 0 does something else
  workers.start(1, 3);
  workers.at(1).call<&Summing::wait>();
  EXPECT_EQ(workers.values(1, 3), sum_of(3));
  EXPECT_EQ(workers.values(0, 2), whole(0, 2));
  workers.start(1, 2);
  workers.all().all<&Summing::wait>();
  for (std::size_t worker : kTwo) {
    EXPECT_EQ(workers.values(worker, 3), sum_of(3));
    EXPECT_EQ(workers.values(worker, 2), sum_of(2));
  }
}

TEST(FusedCycle, BeginsOnceInItsTime) {
  constexpr Duration kCycle = std::chrono::milliseconds(5);
  Workers workers(2, {.cycle = kCycle});
  const Time begin = now();
  workers.start(1, 0);
  workers.start(0, 2);
  // Worker 0 agrees without a pause, and worker 1 once in a cycle.
  expect_error(error_of([&] { workers.at(0).within(10 * kCycle).call<&Summing::wait>(); }), ErrorKind::deadline, "");
  workers.start(1, 2);
  workers.at(0).call<&Summing::wait>();
  const auto cycles = static_cast<std::uint64_t>((now() - begin) / kCycle);
  EXPECT_LE(workers.at(0).call<&Summing::operations>(), cycles + 1);  // tensor 2 is one of them
}

TEST(FusedCycle, ANextStepMayBeginBeforeOthersHaveEndedTheLast) {
  Workers workers(2, {.cycle = kAtOnce});
  for (std::size_t worker : kTwo) workers.start(worker, 0);
  workers.at(0).call<&Summing::wait>();
  workers.start(0, 2);
  workers.at(1).call<&Summing::wait>();
  EXPECT_EQ(workers.values(1, 0), sum_of(0));
  workers.start(1, 2);
  workers.all().all<&Summing::wait>();
  for (std::size_t worker : kTwo) EXPECT_EQ(workers.values(worker, 2), sum_of(2));
}

TEST(FusedCycle, BetweenStepsTheCollectiveIsTheWorkers) {
  Program program("between");
  const auto members = program.group<CollectiveMember>({.name = "collective", .replicas = 2}, context);
  const auto work = [](const Clients<CollectiveMember>& of_all, int at) {
    Collective all(of_all, static_cast<std::uint32_t>(at));
    all.join();
    FusedAllreduce sums(all, 2);
    for (int step = 0; step < 50; ++step) {
      Values values(10, 1);
      sums.start(static_cast<std::uint32_t>(step % 2), values);
      sums.wait();
      EXPECT_EQ(values, Values(10, 2));
      all.barrier();
      EXPECT_EQ(all.broadcast(Array<float>::copy_of(values), 1).size(), 10U);
    }
  };
  program.function({.name = "worker", .replicas = 2}, work, members, index);
  LocalRun run(program);
  run.wait_finished();
  EXPECT_TRUE(run.failed().empty());
}

// ---- failures

TEST(FusedErrors, ATensorIsHandedOverOnceAStepAndHasANumber) {
  Workers workers(2, {.cycle = kForever});
  workers.start(0, 2);
  expect_error(error_of([&] { workers.start(0, 2); }), ErrorKind::failed, "tensor 2 is given while it is");
  expect_error(error_of([&] { workers.at(0).call<&Summing::start>(Summing::kTensors, Values(3)); }), ErrorKind::failed,
               "tensor 5 of 5");
  workers.start(1, 2);
  workers.all().all<&Summing::wait>();  // it caused no harm
  EXPECT_EQ(workers.values(0, 2), sum_of(2));
}

TEST(FusedErrors, ASizeThatDiffersIsSaid) {
  Workers workers(2);
  for (std::size_t worker : kTwo) workers.at(worker).call<&Summing::start>(0U, Values(9000 + worker));
  const std::vector<Error> errors = workers.errors();
  ASSERT_EQ(errors.size(), 2U);
  expect_error(errors[0], ErrorKind::failed, "all must give as many tensors of the same sizes");
  expect_error(errors[1], ErrorKind::failed, "all must give as many tensors of the same sizes");
  expect_error(error_of([&] { workers.start(0, 3); }), ErrorKind::failed, "of the same sizes");
  expect_error(error_of([&] { workers.at(0).call<&Summing::wait>(); }), ErrorKind::failed, "of the same sizes");
  workers.all().all<&Summing::join>();
  EXPECT_TRUE(step(workers.all(), kTwo, 1, whole) == serial_sums(kTwo, whole));
}

TEST(FusedErrors, WhoWaitForDifferentTensorsHearIt) {
  Workers workers(3);
  for (std::size_t worker = 0; worker < 3; ++worker) workers.start(worker, 3);
  workers.start(0, 0);
  workers.start(1, 4);
  workers.start(2, 4);
  const std::vector<Error> errors = workers.errors();
  ASSERT_EQ(errors.size(), 3U);
  for (const Error& error : errors) {
    expect_error(error, ErrorKind::failed, "tensor 0 was given by 1 of 3 ranks; tensor 4 was given by 2 of 3 ranks;");
  }
}

TEST(FusedErrors, WhoDropsTensorsOnTheirWayIsNamed) {
  Workers workers(2);
  workers.start(0, 0);
  workers.at(0).call<&Summing::drop>();
  workers.start(1, 0);
  const auto error = error_of([&] { workers.at(1).call<&Summing::wait>(); });
  expect_error(error, ErrorKind::disconnected, "collective/0");
  expect_error(error, ErrorKind::disconnected, "it dropped tensors that were being summed");
  workers.all().all<&Summing::join>();
  EXPECT_TRUE(step(workers.all(), kTwo, 1, whole) == serial_sums(kTwo, whole));
}

TEST(FusedErrors, WhoGivesUpSaysWhy) {
  Workers workers(3);
  workers.start(0, 0);
  workers.at(1).call<&Summing::end>();
  const std::string why = "member 1 of the collective, has ended the collective";
  expect_error(error_of([&] { workers.at(0).call<&Summing::wait>(); }), ErrorKind::disconnected, why);
  workers.at(0).call<&Summing::drop>();
  workers.start(2, 0);
  const auto error = error_of([&] { workers.at(2).call<&Summing::wait>(); });
  expect_error(error, ErrorKind::disconnected, "a member has left the collective");
  expect_error(error, ErrorKind::disconnected, why);
}

TEST(FusedErrors, AWaitThatItsDeadlineEndsIsToBeDoneAgain) {
  Workers workers(2);
  workers.start(0, 0);
  expect_error(error_of([&] { workers.at(0).within(std::chrono::milliseconds(1)).call<&Summing::wait>(); }),
               ErrorKind::deadline, "");
  expect_error(error_of([&] { workers.start(0, 2); }), ErrorKind::failed, "wait() again");
  workers.start(1, 0);
  workers.all().all<&Summing::wait>();
  EXPECT_EQ(workers.values(0, 0), sum_of(0));
  EXPECT_TRUE(step(workers.all(), kTwo, 1, whole) == serial_sums(kTwo, whole));
}

TEST(FusedErrors, ARankThatDiesIsNamedByAllOthersWhichGoOn) {
  const Which others{0, 2, 3};
  Workers workers(4);
  step(workers.all(), {0, 1, 2, 3}, 0, whole);
  workers.start(1, 3);
  std::vector<Future<void>> waits;
  for (const std::size_t worker : others) {
    workers.start(worker, 3);
    workers.start(worker, 2);
    waits.push_back(workers.at(worker).async<&Summing::wait>());
  }
  LocalRun& run = workers.run();
  const NodeId victim = run.id("collective/1");
  run.runtime().stop(victim, "it is killed");
  EXPECT_TRUE(run.runtime().join(victim, after(std::chrono::seconds(20))));
  const std::vector<PeerState> news{{.node = victim, .incarnation = 2, .gone = true, .text = "it was killed"}};
  run.runtime().update(news);
  for (Future<void>& one : waits) expect_error(error_of([&] { one.get(); }), ErrorKind::disconnected, "collective/1");
  at_once<&Summing::join>(workers.all(), others);
  EXPECT_TRUE(step(workers.all(), others, 1, whole) == serial_sums(others, whole));
}

}  // namespace
}  // namespace lp::test

// A vector that many change concurrently: no change is lost, and no user maps other memory in its place.
#include "nodes/shared_vector.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <latch>
#include <optional>
#include <string>
#include <vector>

#include "lp/base/scheduler.h"
#include "lp/checkpoint/cut.h"
#include "lp/lp.h"
#include "tests/directory.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

class VectorRun {
 public:
  explicit VectorRun(std::vector<float> initial, std::uint32_t users = 2) {
    const auto vector = program_.add<SharedVector>(
        {.name = "vector"}, context,
        std::function<std::vector<float>(std::uint64_t)>([initial](std::uint64_t) { return initial; }), users,
        CutSchedule{});
    run_.emplace(program_);
    client_.emplace(run_->client(vector));
  }
  SharedVectorLocation place() { return client_->call<&SharedVector::location>(); }
  std::vector<float> values() {
    const Array<float> values = client_->call<&SharedVector::values>();
    return {values.begin(), values.end()};
  }

 private:
  Program program_{"vector"};
  std::optional<LocalRun> run_;
  std::optional<Client<SharedVector>> client_;
};

TEST(SharedVector, AllItsViewsAreOneMemory) {
  VectorRun run({1, 2, 3});
  EXPECT_EQ(run.values(), (std::vector<float>{1, 2, 3}));
  const SharedVectorView one(run.place());
  const SharedVectorView other(run.place());
  one.add(1, 0.5F);
  other.set_progress(1, 7);
  EXPECT_EQ(other.get(1), 2.5F);
  EXPECT_EQ(one.progress(1), 7U);
  EXPECT_EQ(one.progress(0), 0U);
  EXPECT_EQ(run.values(), (std::vector<float>{1, 2.5F, 3}));
}

TEST(SharedVector, NoChangeIsLost) {
  constexpr std::size_t kThreads = 4;
  constexpr int kChanges = 2'000'000;  // long enough that threads run at the same time
  VectorRun run(std::vector<float>(5, 0.0F));
  const SharedVectorLocation place = run.place();
  {
    std::latch all_here(kThreads);
    std::vector<Thread> threads;
    for (std::size_t k = 0; k < kThreads; ++k) {
      threads.push_back(spawn("changes", [&] {
        const SharedVectorView view(place);
        all_here.arrive_and_wait();
        for (int i = 0; i < kChanges; ++i) view.add(3, 1);
      }));
    }
  }
  EXPECT_EQ(run.values()[3], static_cast<float>(kThreads * kChanges));  // whole numbers below 2^24 are exact
}

TEST(SharedVector, ComesBackFromACutWithItsProgressAndIsCutAsItsUsersGetOn) {
  const test::Directory directory;
  Program program("vector");
  const std::function<std::vector<float>(std::uint64_t)> zeros = [](std::uint64_t) { return std::vector<float>(3); };
  const auto vector =
      program.add<SharedVector>({.name = "vector"}, context, zeros, 2U, CutSchedule{.every = 10, .last = 23});
  LocalRun run(program, {.run = {.directory = directory.path()}});
  const Client<SharedVector> client = run.client(vector);
  const auto train = [&](std::uint32_t user, std::uint64_t progress) {
    const SharedVectorLocation place = client.call<&SharedVector::location>();
    const SharedVectorView view(place);
    view.add(1, static_cast<float>(progress - view.progress(user)));
    view.set_progress(user, progress);
    client.call<&SharedVector::cut_when_due>(place);
  };
  train(0, 9);
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "checkpoints"));
  train(1, 3);
  run.wait_saved(12, 1);
  train(0, 18);  // nine more than at the cut
  const SharedVectorLocation before = client.call<&SharedVector::location>();
  run.restart({"vector"}, cut_directory(directory.path(), 12));
  EXPECT_THROW(client.call<&SharedVector::cut_when_due>(before), Error);  // its users are still in the memory before
  EXPECT_EQ(client.call<&SharedVector::updates>(), 12U);
  EXPECT_EQ(client.call<&SharedVector::values>()[1], 12);
  const SharedVectorView view(client.call<&SharedVector::location>());
  EXPECT_EQ(view.progress(0), 9U);
  EXPECT_EQ(view.progress(1), 3U);
  train(1, 14);
  run.wait_saved(23, 1);  // the last cut
}

TEST(SharedVector, WhatWasSavedOfAnotherModelOrForOtherWorkersIsRefused) {
  const test::Directory directory;
  const auto refused = [&](std::size_t size, std::uint32_t users, bool from_cut) {
    Program program("vector");
    const std::function<std::vector<float>(std::uint64_t)> zeros = [=](std::uint64_t) {
      return std::vector<float>(size);
    };
    const auto vector = program.add<SharedVector>({.name = "vector"}, context, zeros, users, CutSchedule{.last = 1});
    LocalRun run(program, {.run = {.directory = directory.path()}});
    if (from_cut) {
      run.restart({"vector"}, cut_directory(directory.path(), 1));
      return run.failed().count("vector") == 0 ? std::string() : run.failed().at("vector").text();
    }
    const SharedVectorLocation place = run.client(vector).call<&SharedVector::location>();
    SharedVectorView(place).set_progress(0, 1);
    run.client(vector).call<&SharedVector::cut_when_due>(place);
    run.wait_saved(1, 1);
    return std::string();
  };
  refused(3, 2, false);
  EXPECT_EQ(refused(3, 2, true), "");
  EXPECT_NE(refused(4, 2, true).find("the same model and the same number of workers"), std::string::npos);
  EXPECT_NE(refused(3, 1, true).find("the same model and the same number of workers"), std::string::npos);
}

TEST(SharedVector, WhatIsNotThereIsRefused) {
  VectorRun run({1, 2, 3});
  const SharedVectorView view(run.place());
  std::vector<float> room(3);
  EXPECT_THROW(view.read(1, room), Error);
  EXPECT_THROW(view.progress(2), Error);
  EXPECT_THROW(view.set_progress(2, 1), Error);
  for (const bool elsewhere : {false, true}) {
    SharedVectorLocation place = run.place();
    if (elsewhere) {
      place.path = "/proc/self/fd/1000000";
    } else {
      place.secret[0] = 'x';  // no hexadecimal digit
    }
    try {
      const SharedVectorView other(place);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("one host"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace lp

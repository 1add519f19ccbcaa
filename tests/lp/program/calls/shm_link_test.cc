// A link through shared memory between two runtimes: data in the ring, data on the heap, and its return.

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include "lp/base/shared_heap.h"
#include "lp/lp.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

class Source {
 public:
  int add(int a, int b) { return a + b; }
  Array<float> made(std::size_t size, float value) const {
    Array<float> values(size);
    for (float& one : values.edit()) one = value;
    return values;
  }
  void keep(Array<float> values) { kept_.push_back(std::move(values)); }
  void drop() { kept_.clear(); }
  std::vector<int> filled(int size) const { return std::vector<int>(static_cast<std::size_t>(size), 7); }
  bool nap() { return go_on.wait(after(std::chrono::seconds(20))); }
  bool sleep() { return go_on.wait(after(std::chrono::seconds(20))); }  // like a system call
  using Remote = Methods<&Source::add, &Source::made, &Source::keep, &Source::drop, &Source::filled, &Source::sleep,
                         concurrent<&Source::nap, 1>>;
  static inline Event go_on;

 private:
  std::vector<Array<float>> kept_;
};

class ShmLinkTest : public testing::Test {
 protected:
  ShmLinkTest() : program_("link"), source_(program_.add<Source>({.name = "source"})) {
    serving_ = std::make_unique<LocalRun>(program_, options());
    calling_ = connected();
    client_.emplace(calling_->client(source_));
    client_->call<&Source::add>(1, 2);
    before_ = heap().used();
  }

  static Runtime::Options options() {
    Runtime::Options options;
    options.run.name = "test";
    options.run.token = "secret";
    options.network = true;
    options.run.path = Path::shm;
    options.run.shared_memory = std::size_t{256} << 20;  // each link maps its neighbour's whole heap
    options.run.deadline = std::chrono::seconds(20);
    return options;
  }
  std::unique_ptr<LocalRun> connected() {
    auto run = std::make_unique<LocalRun>(program_, options(), LocalRun::kNothingHere);
    const PeerState up{.node = 0, .incarnation = 1, .endpoint = serving_->runtime().endpoint()};
    run->runtime().update(std::span(&up, 1));
    return run;
  }
  static SharedHeap& heap() { return *SharedHeap::current(); }
  // Another thread of this process returns it.
  void expect_used_soon(std::size_t most) const {
    const Time end = after(std::chrono::seconds(20));
    Event later;
    while (heap().used() > most && !passed(end)) later.wait(after(std::chrono::milliseconds(1)));
    EXPECT_LE(heap().used(), most);
  }

  Program program_;
  Handle<Source> source_;
  std::unique_ptr<LocalRun> serving_;
  std::unique_ptr<LocalRun> calling_;
  std::optional<Client<Source>> client_;
  std::size_t before_ = 0;
};

TEST_F(ShmLinkTest, ArraysLieWhereTheyWereMadeUntilTheirReaderIsDone) {
  {
    const Array<float> values = client_->call<&Source::made>(1'000'000u, 2.0f);
    EXPECT_EQ(values[999'999], 2);
    EXPECT_FALSE(heap().contains(values.data())) << "a view of the neighbour's memory";
    EXPECT_GE(heap().used(), before_ + 4'000'000) << "kept for its reader";
    EXPECT_LE(heap().used(), before_ + 5'000'000) << "and not copied";
  }
  expect_used_soon(before_);
}

TEST_F(ShmLinkTest, WhatItsReaderHasGivenBackIsEditedWhereItLies) {
  Array<float> values(1'000'000);
  client_->call<&Source::keep>(values);
  const float* at = values.data();
  values.edit()[0] = 1;
  EXPECT_NE(values.data(), at) << "its reader has it";
  at = values.data();
  client_->call<&Source::keep>(values);
  client_->call<&Source::drop>();
  values.edit()[0] = 2;
  EXPECT_EQ(values.data(), at);
}

TEST_F(ShmLinkTest, AThousandArraysGivenBackAtOnce) {
  {
    std::vector<Array<float>> arrays;
    for (int i = 0; i < 1000; ++i) arrays.push_back(client_->call<&Source::made>(10'000u, static_cast<float>(i)));
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(arrays[static_cast<std::size_t>(i)][9'999], static_cast<float>(i));
  }
  expect_used_soon(before_ + (1 << 20));  // the rest goes with the next message
  client_->call<&Source::add>(1, 2);
  expect_used_soon(before_);
}

TEST_F(ShmLinkTest, ThousandsOfArraysGivenBackAtOnceNeedNoMessage) {
  {
    std::vector<Array<float>> arrays;
    for (int i = 0; i < 5000; ++i) arrays.push_back(client_->call<&Source::made>(10'000u, static_cast<float>(i)));
  }
  expect_used_soon(before_ + (600 * 40'960));  // the same amount waits until its owner comes by
}

TEST_F(ShmLinkTest, WhatAReaderThatIsGoneStillHadIsGivenBack) {
  const Array<float> values(1'000'000);
  for (int i = 0; i < 10; ++i) client_->call<&Source::keep>(values);
  std::vector<Future<Array<float>>> unread;
  for (int i = 0; i < 10; ++i) unread.push_back(client_->async<&Source::made>(1'000'000u, 1.0f));
  client_->call<&Source::add>(1, 2);
  client_.reset();
  unread.clear();
  calling_.reset();
  expect_used_soon(before_ + 5'000'000);  // our own, which the service has mapped
  auto other = connected();
  other->client(source_).call<&Source::drop>();
}

// The replies wait in the ring, and must neither stop the service nor count for ever.
TEST_F(ShmLinkTest, RepliesThatNobodyWaitsForAreNoBurden) {
  std::vector<Future<std::vector<int>>> all;
  for (int wave = 0; wave < 30; ++wave) {
    for (int i = 0; i < 3000; ++i) all.push_back(client_->async<&Source::filled>(i % 200));
    ASSERT_EQ(client_->call<&Source::add>(wave, 1), wave + 1);
  }
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i].get().size(), i % 3000 % 200);
}

// While a thread reads for its own reply the neighbour rings nobody; afterwards it must ring for those that others
// await.
TEST_F(ShmLinkTest, WhoHasReadForItselfLeavesTheOthersToTheReceiver) {
  Event done;
  const auto awaited = client_->async<&Source::nap>().then([&](Future<bool> nap) {
    if (nap.get()) done.set();
  });  // nobody reads for it
  EXPECT_EQ(client_->call<&Source::add>(1, 2), 3);
  Source::go_on.set();
  EXPECT_TRUE(done.wait(after(std::chrono::seconds(20))));
}

// Replies to quick calls may wait for one another, but not for a call that takes long.
TEST_F(ShmLinkTest, AReplyDoesNotWaitForTheCallsBehindIt) {
  for (int i = 0; i < 50; ++i) {
    Future<int> quick = client_->async<&Source::add>(i, 1);
    Future<bool> long_one = client_->async<&Source::sleep>();
    EXPECT_EQ(quick.get(), i + 1);
    EXPECT_FALSE(long_one.ready());
    Source::go_on.set();
    EXPECT_TRUE(long_one.get());
  }
}

TEST_F(ShmLinkTest, ManyThreadsWaitOnOneLink) {
  std::vector<Thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.push_back(spawn("calls", [this, t] {
      for (int i = 0; i < 500; ++i) {
        ASSERT_EQ(client_->call<&Source::add>(t, i), t + i);
        if (i % 50 == 0) {
          ASSERT_EQ(client_->call<&Source::made>(20'000u, 3.0f)[19'999], 3);
        }
      }
    }));
  }
}

TEST_F(ShmLinkTest, ValuesThatAreLargerThanTheRingAndTheHeapsSmallest) {
  for (const int size : {0, 1, 1000, 8191, 8192, 130'000, 131'072, 2'000'000}) {
    const std::vector<int> values = client_->call<&Source::filled>(size);
    ASSERT_EQ(values.size(), static_cast<std::size_t>(size));
    EXPECT_TRUE(values.empty() || (values.front() == 7 && values.back() == 7));
  }
}

// There are more neighbours than a receiver checks one by one.
TEST_F(ShmLinkTest, ManyNeighboursAtOnce) {
#if defined(__SANITIZE_THREAD__)
  if (heap().memory().size() > std::size_t{1} << 30) GTEST_SKIP() << "too few addresses: run this test by itself";
#endif
  std::vector<std::unique_ptr<LocalRun>> runs(100);
  {
    std::vector<Thread> threads;
    for (std::size_t t = 0; t < 10; ++t) {
      threads.push_back(spawn("dials", [this, &runs, t] {
        for (std::size_t i = t; i < runs.size(); i += 10) runs[i] = connected();
      }));
    }
  }
  for (auto& run : runs) EXPECT_EQ(run->client(source_).call<&Source::add>(2, 3), 5);
}

}  // namespace
}  // namespace lp

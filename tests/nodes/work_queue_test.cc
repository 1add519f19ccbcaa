// Work queues: every item is done even when workers die; bounds, refused calls, and cuts.
#include "nodes/work_queue.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "lp/checkpoint/cut.h"
#include "lp/lp.h"
#include "tests/directory.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

using StringQueue = WorkQueue<std::string>;
using Items = std::vector<std::string>;

class QueueRun {
 public:
  explicit QueueRun(WorkQueueOptions options, Items items = {}, Runtime::Options runtime = {}) {
    const auto handle = program_.add<StringQueue>({.name = "queue"}, context, options, std::move(items));
    run_.emplace(program_, std::move(runtime));
    client_.emplace(run_->client(handle));
  }
  LocalRun& run() { return *run_; }
  Client<StringQueue>& client() { return *client_; }
  std::optional<Leased<std::string>> take() { return client_->call<&StringQueue::take>(); }
  bool done(std::uint64_t number, Items more = {}) {
    return client_->call<&StringQueue::done>(number, std::move(more));
  }

 private:
  Program program_{"work"};
  std::optional<LocalRun> run_;
  std::optional<Client<StringQueue>> client_;
};

TEST(WorkQueueTest, GivesEachItemOnceAndEndsWhenAllAreDone) {
  QueueRun queue({}, {"a", "b"});
  const auto a = queue.take();
  const auto b = queue.take();
  EXPECT_EQ(a->item + b->item, "ab");
  auto more = queue.client().async<&StringQueue::take>();  // leased items may come back
  EXPECT_TRUE(queue.done(a->number));
  EXPECT_FALSE(more.ready());
  EXPECT_TRUE(queue.done(b->number));
  EXPECT_EQ(more.get(), std::nullopt);
  queue.run().wait_finished();
}

TEST(WorkQueueTest, WhatIsNotDoneWithinItsLeaseIsGivenToAnotherAndCountsOnce) {
  QueueRun queue({.lease = std::chrono::milliseconds(20)}, {"a"});
  const auto first = queue.take();
  const auto second = queue.take();  // it waits for the end of the lease
  EXPECT_EQ(second->number, first->number);
  EXPECT_EQ(second->attempt, 2U);
  EXPECT_FALSE(queue.client().call<&StringQueue::renew>(first->number, first->attempt));
  EXPECT_TRUE(queue.done(first->number));
  EXPECT_FALSE(queue.done(second->number));
  EXPECT_EQ(queue.client().call<&StringQueue::done_so_far>(), 1U);
  EXPECT_EQ(queue.take(), std::nullopt);
}

TEST(WorkQueueTest, ALeaseThatIsRenewedIsKept) {
  QueueRun queue({.lease = std::chrono::hours(1)}, {"a"});
  const auto leased = queue.take();
  EXPECT_TRUE(queue.client().call<&StringQueue::renew>(leased->number, leased->attempt));
  EXPECT_FALSE(queue.client().call<&StringQueue::renew>(leased->number, leased->attempt + 1));
}

TEST(WorkQueueTest, APutWaitsForRoomAndTheEndForTheProducers) {
  QueueRun queue({.most_items = 1, .producers = 1});
  queue.client().call<&StringQueue::put>("a");
  Future<void> second = queue.client().async<&StringQueue::put>("b");
  const auto a = queue.take();
  EXPECT_FALSE(second.ready());
  EXPECT_TRUE(queue.done(a->number));
  second.get();
  EXPECT_TRUE(queue.done(queue.take()->number));
  auto last = queue.client().async<&StringQueue::take>();
  EXPECT_EQ(queue.client().call<&StringQueue::done_so_far>(), 2U);
  EXPECT_FALSE(last.ready());
  queue.client().call<&StringQueue::finish>();
  EXPECT_EQ(last.get(), std::nullopt);
}

TEST(WorkQueueTest, WhatAnItemLeadsToIsDoneTooAndHasToFit) {
  QueueRun queue({.most_items = 2}, {"root"});
  const auto root = queue.take();
  try {
    queue.done(root->number, {"a", "b", "c"});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::overloaded) << error.what();
  }
  EXPECT_TRUE(queue.done(root->number, {"a", "b"}));
  EXPECT_EQ(queue.take()->item, "a");
  EXPECT_EQ(queue.take()->item, "b");
}

TEST(WorkQueueTest, WhatNobodyCouldHaveDoneIsRefused) {
  QueueRun queue({}, {"a"});
  EXPECT_THROW(queue.done(2), Error);
  EXPECT_THROW(queue.client().call<&StringQueue::put>("nobody is a producer"), Error);
}

TEST(WorkQueueTest, ARestartedQueueGivesAgainWhatWasNotDoneAtItsCut) {
  const test::Directory directory;
  QueueRun queue({.checkpoint_every = 2}, {"a", "b", "c", "d"}, {.run = {.directory = directory.path()}});
  for (int i = 0; i < 2; ++i) queue.done(queue.take()->number);
  queue.run().wait_saved(2, 1);
  const auto c = queue.take();
  EXPECT_TRUE(queue.done(c->number));
  queue.run().restart({"queue"}, cut_directory(directory.path(), 2));
  Items again;
  while (const auto leased = queue.take()) {
    again.push_back(leased->item);
    EXPECT_TRUE(queue.done(leased->number));
  }
  EXPECT_EQ(again, (Items{"c", "d"}));
  queue.run().wait_finished();
}

TEST(WorkQueueTest, WorkersThatStopInTheMiddleLeaveNothingUndone) {
  Items items;
  for (int i = 0; i < 50; ++i) items.push_back(std::to_string(i));
  Program program("work");
  const auto queue = program.add<StringQueue>({.name = "queue"}, context,
                                              WorkQueueOptions{.lease = std::chrono::milliseconds(100)}, items);
  program.function(
      {.name = "worker", .replicas = 3},
      [](const Client<StringQueue>& from, int index) {
        for (int i = 0; const auto leased = from.call<&StringQueue::take>(); ++i) {
          if (index > 0 && i == 5) throw Error(ErrorKind::failed, "it dies with an item");
          from.call<&StringQueue::done>(leased->number, Items());
        }
      },
      queue, index);
  LocalRun run(program);
  run.wait_finished();
  EXPECT_EQ(run.client(queue).call<&StringQueue::done_so_far>(), 50U);
}

}  // namespace
}  // namespace lp

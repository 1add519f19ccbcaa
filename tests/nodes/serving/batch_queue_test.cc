// Batches by size and by time, and requests that are refused, at times that the test makes up.
#include "nodes/serving/batch_queue.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "lp/base/random.h"

namespace lp {
namespace {

using std::chrono::milliseconds;

constexpr Time at(int ms) { return Time(milliseconds(1'000'000 + ms)); }

using Queue = BatchQueue<int>;

// A batch that takes so long whatever its size is.
void run_batch(Queue& queue, int begin, int end) {
  const auto batch = queue.begin(at(begin));
  queue.end(batch.items.size(), at(end));
}

ErrorKind kind_of(Queue& queue, Time deadline, Time now) {
  try {
    queue.add(0, deadline, now);
  } catch (const Error& error) {
    return error.kind();
  }
  ADD_FAILURE() << "the request was taken";
  return ErrorKind::failed;
}

TEST(BatchQueue, ABatchBeginsWhenItIsFull) {
  Queue queue({.most = 3, .wait = milliseconds(10)});
  EXPECT_EQ(queue.due(), kNever);
  for (int i = 0; i < 2; ++i) queue.add(int{i}, kNever, at(i));
  EXPECT_EQ(queue.due(), at(10));
  for (int i = 2; i < 5; ++i) queue.add(int{i}, kNever, at(2));
  EXPECT_LT(queue.due(), at(2));
  EXPECT_EQ(queue.begin(at(2)).items, (std::vector<int>{0, 1, 2}));
  queue.end(3, at(3));
  EXPECT_EQ(queue.begin(at(12)).items, (std::vector<int>{3, 4}));
}

TEST(BatchQueue, ABatchBeginsWhenItsFirstRequestHasWaitedLongEnough) {
  Queue queue({.most = 64, .wait = milliseconds(10)});
  queue.add(1, kNever, at(5));
  queue.add(2, kNever, at(14));
  EXPECT_EQ(queue.due(), at(15));
}

TEST(BatchQueue, ARequestWithLittleTimeDoesNotWaitForOthers) {
  Queue queue({.most = 64, .wait = milliseconds(100)});
  queue.add(1, kNever, at(0));
  run_batch(queue, 0, 10);
  queue.add(2, at(100), at(20));
  EXPECT_LT(queue.due(), at(90));
  EXPECT_GT(queue.due(), at(20));
}

TEST(BatchQueue, RefusesAtOnceWhatCannotBeAnsweredInTime) {
  Queue queue({.most = 2, .wait = milliseconds(1)});
  for (int round = 0; round < 20; ++round) {  // a batch takes 10 ms
    for (int i = 0; i < 2; ++i) queue.add(int{i}, kNever, at(10 * round));
    run_batch(queue, 10 * round, 10 * round + 10);
  }
  for (int i = 0; i < 4; ++i) queue.add(int{i}, at(1000), at(200));  // two batches
  EXPECT_EQ(kind_of(queue, at(225), at(200)), ErrorKind::overloaded);
  queue.add(5, at(245), at(200));
}

TEST(BatchQueue, RefusesWhatItHasNoRoomFor) {
  Queue queue({.most = 2, .wait = milliseconds(1), .room = 2});
  queue.add(1, kNever, at(0));
  queue.add(2, kNever, at(0));
  EXPECT_EQ(kind_of(queue, kNever, at(0)), ErrorKind::overloaded);
}

TEST(BatchQueue, AnIdleServerTakesEveryRequestAndLearnsThatItIsFastAgain) {
  Queue queue({.most = 4, .wait = milliseconds(1)});
  queue.add(1, kNever, at(0));
  run_batch(queue, 0, 5000);
  int taken = 0;
  for (int round = 0; round < 100; ++round) {  // requests have 100 ms, and batches take 10 ms again
    const int now = 5000 + 20 * round;
    queue.add(1, at(now + 100), at(now));
    const auto batch = queue.begin(at(now));
    EXPECT_EQ(batch.items.size(), 1U);
    try {
      queue.add(2, at(now + 100), at(now));
      ++taken;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::overloaded);
    }
    queue.end(1, at(now + 10));
    if (!queue.empty()) run_batch(queue, now + 10, now + 20);
  }
  EXPECT_GT(taken, 30);
}

TEST(BatchQueue, AnOptionThatDoesNotFitIsRefused) {
  EXPECT_THROW(Queue({.most = 0}), Error);
  EXPECT_THROW(Queue({.wait = milliseconds(-1)}), Error);
  EXPECT_THROW(Queue({.room = 0}), Error);
}

// A server whose batches take 2 ms and 0.1 ms for each request, up to a tenth more: it answers at most 7,700 requests a
// second. Requests come at a rate, at random, and have `allowed` each.
struct Load {
  double rate = 0;  // requests a second
  Duration allowed{};
  std::size_t asked = 0;
  std::size_t refused = 0;  // when they came
  std::size_t shed = 0;     // when their batch began
  std::size_t answered = 0;
  std::size_t late = 0;  // answered after their time

  void run() {
    struct Request {
      Time came;
    };
    BatchQueue<Request> queue({.most = 64, .wait = milliseconds(1)});
    Random random(1, "load");
    Time next = at(0);
    Time free = at(0);  // when the running batch ends
    std::vector<Request> running;
    while (asked < 200'000) {
      const Time begin = std::max(free, queue.due());
      if (!running.empty() && free <= next) {
        for (const Request& one : running) (free <= one.came + allowed ? answered : late) += 1;
        queue.end(running.size(), free);
        running.clear();
      } else if (running.empty() && !queue.empty() && begin <= next) {
        auto batch = queue.begin(begin);
        shed += batch.late.size();
        running = std::move(batch.items);
        const double busy = 2e-3 + 1e-4 * static_cast<double>(running.size());
        free = begin + from_seconds(busy * (1 + 0.1 * random.uniform()));
        if (running.empty()) queue.end(0, begin);
      } else {
        try {
          ++asked;
          queue.add({next}, next + allowed, next);
        } catch (const Error&) {
          ++refused;
        }
        next += from_seconds(-std::log(1 - random.uniform()) / rate);
      }
    }
  }
};

TEST(BatchQueue, UnderThreeTimesItsLoadAnswersAsManyAsItCanInTimeAndRefusesTheOthersAtOnce) {
  constexpr double kCapacity = 64 / (1.05 * (2e-3 + 64 * 1e-4));
  for (const int allowed : {20, 50, 200}) {
    Load load{.rate = 3 * kCapacity, .allowed = milliseconds(allowed)};
    load.run();
    const double busy = static_cast<double>(load.asked) / load.rate;
    EXPECT_GT(static_cast<double>(load.answered), 0.9 * kCapacity * busy) << allowed;
    EXPECT_LT(load.late, load.answered / 100) << allowed;
    EXPECT_LT(load.shed, load.refused / 50) << allowed;
  }
}

TEST(BatchQueue, UnderHalfItsLoadRefusesNobody) {
  Load load{.rate = 3500, .allowed = milliseconds(50)};
  load.run();
  EXPECT_EQ(load.refused + load.shed + load.late, 0U);
}

}  // namespace
}  // namespace lp

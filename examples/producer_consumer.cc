// Producers put numbers into a bounded queue, consumers take them out and add them up.
//
//   producer/0 ─┐           ┌─ consumer/0
//   producer/1 ─┴─▶ queue ◀─┴─ consumer/1
//
//   build/examples/producer_consumer --launch=processes --producers=3 --consumers=2

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "launchers/main.h"
#include "lp/lp.h"

struct Config {
  int producers = 2;
  int consumers = 2;
  std::int64_t items = 1000;
  std::size_t room = 10;

  static constexpr auto fields =
      lp::fields(lp::field("producers", "nodes that put numbers into the queue", lp::range(1, 1000)),
                 lp::field("consumers", "nodes that take numbers out of it", lp::range(1, 1000)),
                 lp::field("items", "numbers from each producer", lp::non_negative),
                 lp::field("room", "numbers that the queue holds at most", lp::at_least(1)));
};

// A call that has to wait gets a Future: it holds neither the queue's turn nor a thread until there is room or an item.
class Queue {
 public:
  explicit Queue(const Config& config) : room_(config.room), producing_(config.producers) {}

  lp::Future<void> put(std::int64_t item) {
    putters_.emplace_back(item, lp::Promise<void>());
    lp::Future<void> done = putters_.back().second.future();
    match();
    return done;
  }
  // Returns nothing when all producers are done and the queue is empty.
  lp::Future<std::optional<std::int64_t>> take() {
    takers_.emplace_back();
    lp::Future<std::optional<std::int64_t>> item = takers_.back().future();
    match();
    return item;
  }
  // Called by a producer after its last number.
  void finish() {
    --producing_;
    match();
  }

  void add(std::int64_t sum) { sum_ += sum; }
  std::int64_t sum() const { return sum_; }

  using Remote = lp::Methods<&Queue::put, &Queue::take, &Queue::finish, &Queue::add, &Queue::sum>;

 private:
  void match() {
    while (admit() || serve()) {
    }
  }
  // Admits a number that waits for room.
  bool admit() {
    if (putters_.empty() || items_.size() >= room_) return false;
    items_.push_back(putters_.front().first);
    putters_.front().second.set_value();
    putters_.pop_front();
    return true;
  }
  // Gives a waiting consumer a number, or nothing if there will be no more.
  bool serve() {
    if (takers_.empty() || (items_.empty() && producing_ > 0)) return false;
    std::optional<std::int64_t> item;
    if (!items_.empty()) {
      item = items_.front();
      items_.pop_front();
    }
    takers_.front().set_value(item);
    takers_.pop_front();
    return true;
  }

  const std::size_t room_;
  int producing_;
  std::deque<std::int64_t> items_;
  std::deque<std::pair<std::int64_t, lp::Promise<void>>> putters_;  // puts that wait for room
  std::deque<lp::Promise<std::optional<std::int64_t>>> takers_;     // takes that wait for a number
  std::int64_t sum_ = 0;
};

lp::Program make_program(const Config& config) {
  lp::Program program("producer_consumer");
  const auto queue = program.add<Queue>({.name = "queue"}, config);
  program.function(
      {.name = "producer", .replicas = config.producers},
      [items = config.items](lp::Client<Queue> to, int index) {
        for (std::int64_t i = 0; i < items; ++i) to.call<&Queue::put>(index * items + i);
        to.call<&Queue::finish>();
      },
      queue, lp::index);
  program.function(
      {.name = "consumer", .replicas = config.consumers, .ends_program = true},
      [](lp::Client<Queue> from) {
        std::int64_t sum = 0;
        while (const auto item = from.call<&Queue::take>()) sum += *item;
        from.call<&Queue::add>(sum);
      },
      queue);
  return program;
}

struct Result {
  std::int64_t sum = 0;
  std::int64_t expected = 0;
};

Result report(lp::Run& run, const Config& config) {
  const std::int64_t n = config.producers * config.items;
  return {.sum = run.client<Queue>("queue").call<&Queue::sum>(), .expected = n * (n - 1) / 2};
}

int main(int argc, char** argv) { return lp::main<Config>(argc, argv, make_program, report); }

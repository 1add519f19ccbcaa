#pragma once
// Items of work, each of which some worker does. A worker leases an item. An item that is not done when its lease ends
// is given to another worker. So every item is done at least once, even if workers die.
//
//   std::vector<Job> items = all_jobs(config);
//   auto jobs = program.add<lp::WorkQueue<Job>>({.name = "jobs"}, lp::context, lp::WorkQueueOptions{}, items);
//
//   while (const auto leased = jobs.call<&lp::WorkQueue<Job>::take>()) {
//     do_it(leased->item);
//     jobs.call<&lp::WorkQueue<Job>::done>(leased->number, std::vector<Job>());
//   }
//
// A node whose run() ends when all items are done. Its handlers run in its turn.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/scheduler.h"
#include "lp/checkpoint/checkpoint.h"
#include "lp/program/context.h"
#include "lp/rpc/core/future.h"
#include "lp/rpc/core/method.h"

namespace lp {

struct WorkQueueOptions {
  Duration lease = std::chrono::seconds(60);  // an item that is not done by then is given to another worker
  std::size_t most_items = 100'000;           // the most items that are not done; a put waits for room
  int producers = 0;  // the number of nodes that put items; each calls finish after its last one
  // A cut of the program is taken each time `checkpoint_every` more items are done; 0: none. A restarted queue goes on
  // from the last cut, with all items that were not done then. An item that was put after the cut is lost, unless its
  // producer goes back to that cut, too. So give the items to the constructor, or add them with `done`.
  std::uint64_t checkpoint_every = 0;
};

template <class T>
struct Leased {
  std::uint64_t number = 0;   // the item's number, from 1
  std::uint32_t attempt = 0;  // how often the item was leased, this time included
  T item{};
};

template <Sendable T>
class WorkQueue {
 public:
  static constexpr Interval kLongestWait = 1440_min;  // Client::within makes it shorter

  // Throws Error::failed for a lease that is not above 0, and Error::overloaded for more items than there is room.
  WorkQueue(Context& context, WorkQueueOptions options, std::vector<T> items = {})
      : context_(context), options_(options) {
    if (options_.lease <= Duration::zero()) throw Error(ErrorKind::failed, "a lease must be longer than 0");
    check_room(items.size());
    for (T& one : items) add(std::move(one));
  }

  void run(Context& node) {
    Future<void> over = over_.future();
    Duration pause = node.exclusive([this] { return give_back(); });
    while (!over.get_for(pause)) pause = node.exclusive([this] { return give_back(); });
  }

  // Ready when there is room for the item.
  Future<void> put(T item) {
    if (finished_ >= options_.producers) {
      throw Error(ErrorKind::failed,
                  "an item was put after all producers had finished: does WorkQueueOptions have the right number of "
                  "producers?");
    }
    putting_.push_back({.item = std::move(item), .done = {}});
    Future<void> done = putting_.back().done.future();
    settle();
    return done;
  }
  // Called by a producer after its last put.
  void finish() {
    ++finished_;
    settle();
  }
  // The next item. Nothing when all items are done and all producers have finished.
  Future<std::optional<Leased<T>>> take() {
    taking_.emplace_back();
    Future<std::optional<Leased<T>>> leased = taking_.back().future();
    settle();
    return leased;
  }
  // Marks the item as done, and adds `more` items. Returns false, and changes nothing, when it was done before.
  // Error::failed when no such item was ever leased, Error::overloaded when there is no room for `more`.
  bool done(std::uint64_t number, std::vector<T> more) {
    if (number == 0 || number >= next_) {
      throw Error(ErrorKind::failed,
                  "item " + std::to_string(number) + " is reported as done, but was never in the queue");
    }
    const auto found = items_.find(number);
    if (found == items_.end()) return false;
    check_room(items_.size() - 1 + more.size());
    if (found->second.until == kNever) std::erase(waiting_, number);  // its lease had ended
    items_.erase(found);
    for (T& one : more) add(std::move(one));
    ++done_;
    if (options_.checkpoint_every > 0 && done_ % options_.checkpoint_every == 0) context_.checkpoint(done_);
    settle();
    return true;
  }
  // Begins the lease of this attempt anew. Returns false when the item is done, or was given to another worker.
  bool renew(std::uint64_t number, std::uint32_t attempt) {
    const auto found = items_.find(number);
    if (found == items_.end() || found->second.attempt != attempt || found->second.until == kNever) return false;
    found->second.until = after(options_.lease);
    return true;
  }
  std::uint64_t done_so_far() const { return done_; }

  void save(Checkpoint& out) const {
    std::vector<std::pair<std::uint64_t, T>> items;
    for (const auto& [number, one] : items_) items.emplace_back(number, one.item);
    out.put("items", items);
    out.put("next", next_);
    out.put("done", done_);
    out.put("finished", finished_);
  }
  void load(const Checkpoint& in) {
    items_.clear();
    waiting_.clear();
    for (auto& [number, item] : in.get<std::vector<std::pair<std::uint64_t, T>>>("items")) {
      items_[number] = {.item = std::move(item), .attempt = 0, .until = kNever};
      waiting_.push_back(number);
    }
    next_ = in.get<std::uint64_t>("next");
    done_ = in.get<std::uint64_t>("done");
    finished_ = in.get<int>("finished");
  }

  using Remote = Methods<deadline<once<&WorkQueue::put>, kLongestWait>, once<&WorkQueue::finish>,
                         deadline<idempotent<&WorkQueue::take>, kLongestWait>, once<&WorkQueue::done>,
                         idempotent<&WorkQueue::renew>, &WorkQueue::done_so_far>;

 private:
  struct Item {
    T item{};
    std::uint32_t attempt = 0;
    Time until = kNever;  // the end of its lease; kNever: it waits for a worker
  };
  struct Putting {
    T item{};
    Promise<void> done{};
  };

  void check_room(std::size_t items) const {
    if (items <= options_.most_items) return;
    throw Error(ErrorKind::overloaded, std::to_string(items) + " items would wait to be done, but there is room for " +
                                           std::to_string(options_.most_items) +
                                           ": raise WorkQueueOptions::most_items");
  }
  void add(T item) {
    items_[next_] = {.item = std::move(item), .attempt = 0, .until = kNever};
    waiting_.push_back(next_++);
  }
  // Admits waiting puts while there is room, and gives waiting items to takers. When all is done, it notifies the
  // takers.
  void settle() {
    while (!putting_.empty() && items_.size() < options_.most_items) {
      add(std::move(putting_.front().item));
      putting_.front().done.set_value();
      putting_.pop_front();
    }
    while (!taking_.empty() && !waiting_.empty()) {
      const std::uint64_t number = waiting_.front();
      Item& one = items_.at(number);
      one.until = after(options_.lease);
      taking_.front().set_value(Leased<T>{.number = number, .attempt = ++one.attempt, .item = one.item});
      waiting_.pop_front();
      taking_.pop_front();
    }
    if (!items_.empty() || !putting_.empty() || finished_ < options_.producers) return;
    for (auto& one : taking_) one.set_value(std::nullopt);
    taking_.clear();
    if (!std::exchange(told_, true)) over_.set_value();
  }
  // Takes back the items whose leases have ended. Returns the time until the next lease ends.
  Duration give_back() {
    Time next = after(options_.lease);
    for (auto& [number, one] : items_) {
      if (passed(one.until)) {
        one.until = kNever;
        waiting_.push_back(number);
      }
      next = std::min(next, one.until);
    }
    settle();
    return std::max<Duration>(until(next), std::chrono::milliseconds(1));
  }

  Context& context_;
  const WorkQueueOptions options_;
  std::map<std::uint64_t, Item> items_{};  // the items that are not done, by number
  std::deque<std::uint64_t> waiting_{};    // the items that nobody has leased
  std::deque<Putting> putting_{};
  std::deque<Promise<std::optional<Leased<T>>>> taking_{};
  std::uint64_t next_ = 1;
  std::uint64_t done_ = 0;
  int finished_ = 0;
  bool told_ = false;
  Promise<void> over_{};
};

}  // namespace lp

#pragma once
// Samples from one table of all servers of a group, as if it were one table: a server that has to wait for inserts does
// not hold up the others.
//
//   lp::replay::Sampler sampler(replay, "transitions");  // a Client<Server> or Clients<Server>
//   while (!context.stopping()) {
//     const lp::replay::Batch batch = sampler.sample(256);
//     learn(batch, priorities);
//     sampler.update_priorities(batch.keys(), priorities);
//   }
//
// A sampler that asks ahead, or that has several servers, takes along the items of its requests when it ends.
//
// Owned by a learner; one thread at a time.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lp/base/scheduler.h"
#include "lp/rpc/clients.h"
#include "lp/rpc/core/future.h"
#include "lp/rpc/stream.h"
#include "nodes/replay/batch.h"
#include "nodes/replay/server.h"

namespace lp::replay {

struct SamplerOptions {
  Duration timeout = std::chrono::seconds(60);  // the longest wait of sample()
  // How many requests are on their way to each server while the learner computes. With 0, a sample has the priorities
  // of the moment in which it is asked for; with several servers, one request is always on its way.
  std::uint32_t ahead = 0;
};

class Sampler {
 public:
  // Error::failed when a server has no such table, or when the timeout is not above 0.
  Sampler(const Client<Server>& server, std::string table, SamplerOptions options = {});
  Sampler(const Clients<Server>& servers, std::string table, SamplerOptions options = {});

  // Returns exactly `count` items. Error::deadline when there are not so many in time, with the state of the tables;
  // the items that have come then, or come later to its requests, are in the next batch.
  Batch sample(std::size_t count);
  // Gives items other priorities, whichever server has them. Returns how many are still there. Error::failed, with
  // nothing changed at the server that refuses it, for a priority that is negative, infinite or no number.
  std::uint64_t update_priorities(std::span<const std::uint64_t> keys, std::span<const double> priorities);
  // Removes items.
  std::uint64_t remove(std::span<const std::uint64_t> keys);
  // The table at each server.
  std::vector<TableInfo> info() const;

  const Layout& layout() const { return *layout_; }

 private:
  struct Source {
    Client<Server> client;
    std::uint32_t shard = 0;
    std::uint32_t table = 0;  // its position at this server
    std::deque<Future<Samples>> asked{};
    bool watched = false;  // ready_ will have an item when the first of them is ready
  };

  void ask(std::size_t missing);
  void take_reply(Time until);
  std::size_t next_ready(Time until);
  Source& source_of(std::uint64_t key);
  [[noreturn]] void fail_late(std::size_t missing) const;

  const std::string table_;
  const SamplerOptions options_;
  std::deque<Source> sources_{};
  std::shared_ptr<const Layout> layout_{};  // shared by its batches
  std::size_t first_ = 0;                   // the source whose turn it is
  struct IsReady {};
  using ReadyQueue = rpc::StreamQueue<IsReady>;
  std::shared_ptr<ReadyQueue> ready_ = std::make_shared<ReadyQueue>();  // shared with the calls that bring replies
  std::optional<Future<std::optional<IsReady>>> next_{};                // the item of ready_ that is awaited
  Batch waiting_{};                                                     // items for the next batch
};

}  // namespace lp::replay

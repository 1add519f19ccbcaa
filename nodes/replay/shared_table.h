#pragma once
// A table that many threads use, with inserts and samples that wait until the table's rate limits allow them. Those
// that wait are served in the order in which they came; none overtakes another.
//
// Owned by a server. Thread-safe: every function takes the lock for a short time, and none waits for anything else.

#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/scheduler.h"
#include "lp/checkpoint/checkpoint.h"
#include "lp/rpc/core/future.h"
#include "nodes/replay/replay_messages.h"
#include "nodes/replay/table.h"

namespace lp::replay {

class SharedTable {
 public:
  template <class... Args>
  explicit SharedTable(Args&&... args) : table_(std::forward<Args>(args)...) {}

  const Layout& layout() const { return table_.layout(); }
  const std::string& name() const { return table_.name(); }
  TableInfo info() const;

  // Ready when at least one entry was inserted, with the number of those that were. A caller that has given up by
  // `until` inserts nothing.
  Future<InsertReply> insert(std::vector<Entry> entries, Time until);
  // Ready with at least one item, and at most `count`: as many as the limits allow at that moment.
  Future<Samples> sample(std::uint32_t count, Time until);
  // Returns how many of the items are there. Error::failed, with nothing changed, for a priority that does not fit.
  std::uint64_t update(std::span<const PriorityUpdate> updates);
  std::uint64_t remove(std::span<const std::uint64_t> keys);
  void reset();

  void save(Checkpoint& out, ChunkList& chunks) const;
  void load(const Checkpoint& in, std::span<const ChunkRef> chunks);

 private:
  struct Inserting {
    std::vector<Entry> entries{};
    Time until = kNever;
    Promise<InsertReply> promise{};
  };
  struct Sampling {
    std::uint32_t count = 0;
    Time until = kNever;
    Promise<Samples> promise{};
  };
  // Replies that are sent when the lock is free again.
  struct Replies {
    std::vector<std::pair<Promise<InsertReply>, InsertReply>> inserted{};
    std::vector<std::pair<Promise<Samples>, Samples>> sampled{};
    std::vector<Inserting> late_inserts{};
    std::vector<Sampling> late_samples{};

    void send();
  };

  // Calls f() under the lock, then serves all that can go on.
  template <class F>
  auto change(F f);
  void settle(Replies& replies);
  void drop_late(Replies& replies);
  InsertReply insert_now(std::vector<Entry>& entries);
  Samples sample_now(std::uint32_t count);

  mutable std::mutex mutex_{};
  Table table_;
  std::deque<Inserting> inserting_{};
  std::deque<Sampling> sampling_{};
};

}  // namespace lp::replay

#pragma once
// An actor's way into replay tables. It appends steps, each once, and makes items over windows of the last steps, also
// overlapping ones. Steps are sent in chunks, which the items share.
//
//   lp::replay::TrajectoryWriter writer(replay, "transitions");  // a Client<Server>, or Clients<Server> and an index
//   while (!context.stopping()) {
//     writer.append(observation, action, reward);  // the columns, in their order: ranges or numbers
//     if (writer.steps() >= 3) writer.add_item(3, priority);  // the last three steps
//     if (ended) writer.end_episode();
//   }
//   writer.flush();
//
// Items are sent in batches, one batch behind the other, so that they come into the table in their order. A writer is
// ahead of the server by one batch; when the table has no room, add_item waits. Owned by an actor; one thread at a
// time.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <ranges>
#include <string>
#include <vector>

#include "lp/base/scheduler.h"
#include "lp/rpc/clients.h"
#include "lp/rpc/core/future.h"
#include "nodes/replay/columns.h"
#include "nodes/replay/replay_messages.h"
#include "nodes/replay/server.h"

namespace lp::replay {

struct WriterOptions {
  std::uint32_t window = 64;       // an item has at most so many steps
  std::uint32_t chunk_steps = 64;  // steps of a chunk; it stays in memory as long as one of its steps is needed
  std::uint32_t batch = 256;       // items that are sent together, or fewer that have kMostBytes
  bool compress = false;           // chunks by zstd, in the actor; samplers decompress them
  Duration timeout = std::chrono::seconds(60);  // the longest wait for room in a table
};

class TrajectoryWriter {
 public:
  static constexpr std::uint64_t kMostBytes = std::uint64_t{2} << 20;  // size of the steps of a batch, about

  // Error::failed when the server has no such table, when an option is 0, or when a chunk would have 4 GiB or
  // more.
  TrajectoryWriter(const Client<Server>& server, std::string table, WriterOptions options = {});
  // Writes to one of the servers: actors with different indices spread over them.
  TrajectoryWriter(const Clients<Server>& servers, int index, std::string table, WriterOptions options = {});

  // Appends a step: for each column of the table a number, or a range of numbers of its type. Error::failed, with
  // nothing appended, when they do not fit the columns.
  template <class... Values>
  void append(const Values&... values) {
    begin_step();
    std::size_t column = 0;
    (put(column++, values), ...);
    end_step(column);
  }
  // The steps that an item may have now: those of this episode, at most the window.
  std::uint32_t steps() const;
  // Makes an item of the last `steps` steps, in the writer's table or in another one of the server with the same
  // columns. It may send items that were made before, and waits for the reply to the last batch. Error::failed when
  // there are not so many steps, for a priority that is negative, infinite or no number, and when the other table does
  // not fit; then there is no item. Error::deadline when a table has no room in time: the item and all earlier ones
  // that were not accepted are sent by the next call.
  void add_item(std::uint32_t steps, double priority = 1) { add_item_to(table_, steps, priority); }
  void add_item_to(const std::string& table, std::uint32_t steps, double priority = 1);
  // No later item has a step from before.
  void end_episode();
  // Sends all items, and returns when they are in their tables. Errors as above. Error::failed, also of add_item, when
  // a table or its extension refuses one: those sent with it and behind it are dropped, and the error has their number.
  void flush();

  const Layout& layout() const { return layout_; }

 private:
  struct WrittenChunk {
    std::uint64_t begin = 0;  // number of its first step
    ChunkData data{};
    bool sent = false;
    std::uint64_t end() const { return begin + data.steps; }
  };
  struct PendingItem {
    std::uint32_t table = 0;
    std::uint32_t steps = 0;
    std::uint64_t end = 0;  // number of the step behind its last one
    double priority = 1;
  };

  void begin_step();
  void end_step(std::size_t columns);
  void put(std::size_t column, Scalar type, const void* data, std::size_t count);
  template <class T>
  void put(std::size_t column, const T& values) {
    if constexpr (std::ranges::contiguous_range<T>) {
      using Value = std::ranges::range_value_t<T>;
      put(column, scalar_of<Value>(), std::ranges::data(values), std::ranges::size(values));
    } else {
      put(column, scalar_of<T>(), &values, 1);
    }
  }

  std::uint32_t number_of(const std::string& table);
  void close_chunk();
  std::uint64_t waiting_bytes() const;
  bool can_send() const;
  void send_batch();
  void start();
  void finish_batch();
  void take_reply(const InsertReply& reply);
  void keep_batch();
  InsertRequest request();
  std::vector<std::uint32_t> name_chunks(InsertRequest& to);
  std::size_t chunk_at(std::uint64_t step) const;
  std::uint64_t oldest_needed() const;
  void forget_old_chunks();
  [[noreturn]] void fail_late(const Error& error) const;

  const Client<Server> server_;
  const std::string table_;
  const WriterOptions options_;
  Layout layout_;
  std::map<std::string, std::uint32_t, std::less<>> tables_{};  // those with the same columns
  std::uint64_t next_key_;  // begins at a random number, so that no two writers use the same keys

  std::uint64_t episode_ = 0;  // number of its first step
  std::uint64_t appended_ = 0;
  std::deque<WrittenChunk> chunks_{};
  Buffer open_{};  // the chunk that is not full yet
  std::byte* rows_ = nullptr;
  std::uint32_t open_steps_ = 0;

  std::deque<PendingItem> pending_{};        // items that were not sent
  std::vector<PendingItem> sent_{};          // items of the batch that is on its way
  std::vector<std::uint64_t> in_request_{};  // the chunks of that batch, by their first steps
  Future<InsertReply> reply_{};
};

}  // namespace lp::replay

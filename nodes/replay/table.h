#pragma once
// The items of a table, and what is done with them, at once or not at all. A SharedTable adds a lock, and calls that
// wait.
//
// Owned by a SharedTable, under its lock.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "lp/base/random.h"
#include "lp/checkpoint/checkpoint.h"
#include "nodes/replay/chunk.h"
#include "nodes/replay/replay_messages.h"
#include "nodes/replay/sample_builder.h"
#include "nodes/replay/table_options.h"

namespace lp::replay {

// The steps and the priority of an item.
struct Entry {
  Piece piece{};              // its first steps
  std::vector<Piece> more{};  // the steps behind, if they are in further chunks
  double priority = 1;

  std::uint32_t steps() const;
};

// The chunks that items refer to, each once, to be saved.
class ChunkList {
 public:
  std::uint32_t number_of(const ChunkRef& chunk);
  const std::vector<ChunkRef>& chunks() const { return chunks_; }

 private:
  std::vector<ChunkRef> chunks_{};
  std::unordered_map<const Chunk*, std::uint32_t> numbers_{};
};

// Error::failed for a priority that is negative, infinite or no number.
void check_priority(double priority);

class Table {
 public:
  // A key is the server's number, the generation of the item's slot, and the slot.
  static constexpr int kShardShift = 56;

  // `number` is the table's position in its server, `shard` the server's number in its group. Keys differ from those
  // of other incarnations. Error::failed when an option does not fit.
  Table(TableOptions options, std::uint32_t number, std::uint32_t shard, std::uint32_t incarnation, Random random);
  ~Table();

  const std::string& name() const { return options_.name; }
  const Layout& layout() const { return layout_; }
  std::uint64_t size() const { return size_; }
  TableInfo info() const;

  // Error::failed when no removal could make room for the entry.
  void check_room(const Entry& entry) const;
  bool can_insert() const { return limiter_.can_insert(); }
  // The remover makes room first. can_insert() must hold, and check_room() have passed.
  void insert(Entry entry);
  bool can_sample() const { return size_ > 0 && limiter_.can_sample(); }
  // Adds at most `count` samples: as many as the limits allow.
  void sample(std::uint32_t count, SampleBuilder& to);
  // These return false when there is no such item any more.
  bool update(std::uint64_t key, double priority);
  bool remove(std::uint64_t key);
  // Removes all items, and begins the counts anew.
  void reset();

  void save(Checkpoint& out, ChunkList& chunks) const;
  // Error::failed, with nothing changed, when the saved table has other columns or does not fit the limits.
  void load(const Checkpoint& in, std::span<const ChunkRef> chunks);

 private:
  // Fills one line of the cache: a sample of a large table waits for memory, and so waits once.
  struct alignas(64) Item {
    Entry entry{};
    std::uint32_t times_sampled = 0;
    std::uint32_t generation = 0;  // counts the items that this slot has had

    bool there() const { return entry.piece.chunk != nullptr; }
  };
  static_assert(sizeof(Item) == 64);
  struct Saved;  // the arrays of a checkpoint
  static constexpr int kGenerationShift = 32;
  static constexpr std::uint32_t kGenerations = std::uint32_t{1} << (kShardShift - kGenerationShift);

  std::uint64_t key_of(std::uint32_t slot) const;
  // The slot of an item; kNone when it is not there any more.
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::uint32_t find(std::uint64_t key) const;
  ItemView view(std::uint32_t slot) const;
  std::uint32_t take_slot();
  void put(std::uint32_t slot, Entry entry);
  void drop(std::uint32_t slot);
  void remove_slot(std::uint32_t slot);
  void sample_one(const Selection& selection, SampleBuilder& to);
  void sample_some(std::uint32_t count, SampleBuilder& to);
  std::uint64_t new_bytes(const Entry& entry) const;
  void use(Piece& piece, int change);
  void load_items(const Saved& saved, std::span<const ChunkRef> chunks);

  const TableOptions options_;
  const Layout layout_;
  const std::uint32_t number_;
  const std::uint32_t shard_;
  const std::uint32_t first_generation_;
  Random random_;
  RateLimiter limiter_;
  std::unique_ptr<Selector> sampler_;
  std::unique_ptr<Selector> remover_;
  std::unique_ptr<Extension> extension_{};
  std::vector<Item> slots_{};
  std::vector<std::uint64_t> order_{};  // by slot: the number of the insert
  std::vector<std::uint32_t> free_{};
  std::uint64_t size_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t inserted_ = 0;
};

}  // namespace lp::replay

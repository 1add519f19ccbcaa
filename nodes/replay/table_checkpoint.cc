// How a table is saved: arrays of numbers with an element for each item, from the oldest to the newest, so that people
// and other programs can read and edit them.
#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/text.h"
#include "nodes/replay/saved_chunks.h"
#include "nodes/replay/table.h"

namespace lp::replay {
namespace {

template <class T>
Array<T> array_of(const std::vector<T>& values) {
  return Array<T>::copy_of(values);
}

struct SavedCheck {
  const std::string& table;

  [[noreturn]] void fail(const std::string& what) const {
    fail_damaged("the saved replay table " + quote(table) + " is", what);
  }
  void require(bool holds, const std::string& what) const {
    if (!holds) fail(what);
  }
};

}  // namespace

struct Table::Saved {
  std::vector<std::uint64_t> keys{};
  std::vector<double> priorities{};
  std::vector<std::uint32_t> times_sampled{};
  std::vector<std::uint32_t> pieces{};        // how many pieces an item has
  std::vector<std::uint32_t> piece_chunks{};  // for each piece: the number of its chunk, its first step, its steps
  std::vector<std::uint32_t> piece_first{};
  std::vector<std::uint32_t> piece_steps{};
  std::vector<std::uint32_t> generations{};  // by slot

  void add(const Piece& piece, ChunkList& chunks) {
    piece_chunks.push_back(chunks.number_of(piece.chunk));
    piece_first.push_back(piece.first);
    piece_steps.push_back(piece.steps);
  }

  // Calls f(name, array) for each array.
  template <class Self, class F>
  static void each(Self& self, F f) {
    f("keys", self.keys);
    f("priorities", self.priorities);
    f("times_sampled", self.times_sampled);
    f("pieces", self.pieces);
    f("piece_chunks", self.piece_chunks);
    f("piece_first", self.piece_first);
    f("piece_steps", self.piece_steps);
    f("generations", self.generations);
  }

  static Saved read(const Checkpoint& in, const std::string& table) {
    Saved saved;
    each(saved, [&](const char* name, auto& values) {
      using T = typename std::remove_reference_t<decltype(values)>::value_type;
      const auto array = in.get<Array<T>>(table + "/" + name);
      values.assign(array.begin(), array.end());
    });
    return saved;
  }

  // Throws Error::failed when the numbers do not fit one another.
  void check(const SavedCheck& check, std::span<const ChunkRef> chunks, std::size_t row_bytes) const {
    check_lengths(check);
    for (std::size_t i = 0; i < piece_chunks.size(); ++i) check_piece(check, i, chunks, row_bytes);
    for (std::size_t i = 0; i < priorities.size(); ++i) {
      if (std::isfinite(priorities[i]) && priorities[i] >= 0) continue;
      check.fail("the priority of item " + std::to_string(i) + " is " + std::to_string(priorities[i]));
    }
  }
  void check_lengths(const SavedCheck& check) const {
    const auto same = [&](const char* name, std::size_t length, const char* as, std::size_t expected) {
      check.require(length == expected, std::string(name) + " has " + std::to_string(length) + " elements, but " + as +
                                            " has " + std::to_string(expected));
    };
    same("priorities", priorities.size(), "keys", keys.size());
    same("times_sampled", times_sampled.size(), "keys", keys.size());
    same("pieces", pieces.size(), "keys", keys.size());
    same("piece_first", piece_first.size(), "piece_chunks", piece_chunks.size());
    same("piece_steps", piece_steps.size(), "piece_chunks", piece_chunks.size());
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (pieces[i] == 0) check.fail("item " + std::to_string(i) + " has no pieces");
      all += pieces[i];
    }
    check.require(all == piece_chunks.size(), "the sum of pieces is " + std::to_string(all) +
                                                  ", but piece_chunks has " + std::to_string(piece_chunks.size()) +
                                                  " elements");
  }
  void check_piece(const SavedCheck& check, std::size_t i, std::span<const ChunkRef> chunks,
                   std::size_t row_bytes) const {
    const std::uint32_t number = piece_chunks[i];
    const auto piece = [i](const char* array) {
      return std::string(array) + " of piece " + std::to_string(i) + " is ";
    };
    if (number >= chunks.size()) {
      check.fail(piece("piece_chunks") + std::to_string(number) + ", but there are " + std::to_string(chunks.size()) +
                 " chunks");
    }
    const Chunk& chunk = *chunks[number];
    if (chunk.row_bytes() != row_bytes) {
      check.fail("chunks/row_bytes of chunk " + std::to_string(number) + " is " + std::to_string(chunk.row_bytes()) +
                 ", but a step with its columns has " + std::to_string(row_bytes));
    }
    if (piece_steps[i] == 0) check.fail(piece("piece_steps") + "0");
    if (std::uint64_t{piece_first[i]} + piece_steps[i] > chunk.steps()) {
      check.fail(piece("piece_first") + std::to_string(piece_first[i]) + " and piece_steps is " +
                 std::to_string(piece_steps[i]) + ", but its chunk has " + std::to_string(chunk.steps()) + " steps");
    }
  }
  // A key has the number of the server, the generation of the slot, and the slot.
  void check_keys(const SavedCheck& check, std::uint32_t shard) const {
    std::unordered_set<std::uint32_t> slots;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto slot = static_cast<std::uint32_t>(keys[i]);
      const std::uint64_t generation = (keys[i] >> kGenerationShift) % kGenerations;
      const auto fail = [&](const char* part, std::uint64_t is, const std::string& but) {
        check.fail("the key of item " + std::to_string(i) + " has " + part + " " + std::to_string(is) + ", but " + but);
      };
      if (slot >= generations.size()) {
        fail("slot", slot, "generations has " + std::to_string(generations.size()) + " elements");
      }
      if (!slots.insert(slot).second) fail("slot", slot, "another item has it too");
      if (keys[i] >> kShardShift != shard) fail("server", keys[i] >> kShardShift, "this is " + std::to_string(shard));
      if (generation != generations[slot]) {
        fail("generation", generation, "generations has " + std::to_string(generations[slot]) + " for its slot");
      }
    }
  }
  // The counts of inserts, samples and removals. Items may have been removed from the arrays since.
  void check_counts(const SavedCheck& check, std::span<const std::uint64_t> counts, const RateLimiter& limiter,
                    std::uint32_t max_times_sampled) const {
    check.require(counts.size() == 3, "counts has " + std::to_string(counts.size()) +
                                          " elements, but there are 3: inserts, samples and removals");
    const std::string inserts = "counts has " + std::to_string(counts[0]) + " inserts";
    constexpr std::uint64_t kMost = std::uint64_t{1} << 53;  // the limits compare numbers of this precision
    check.require(counts[0] <= kMost && counts[1] <= kMost,
                  inserts + " and " + std::to_string(counts[1]) + " samples: more than 2^53");
    check.require(counts[0] >= keys.size(), inserts + ", but there are " + std::to_string(keys.size()) + " items");
    check.require(counts[2] <= counts[0] - keys.size(), inserts + " and " + std::to_string(counts[2]) +
                                                            " removals, but there are " + std::to_string(keys.size()) +
                                                            " items");
    std::uint64_t sampled = 0;
    for (std::size_t i = 0; i < times_sampled.size(); ++i) {
      sampled += times_sampled[i];
      if (max_times_sampled == 0 || times_sampled[i] < max_times_sampled) continue;
      check.fail("times_sampled of item " + std::to_string(i) + " is " + std::to_string(times_sampled[i]) +
                 ", but an item is removed when it was sampled " + std::to_string(max_times_sampled) + " times");
    }
    const std::string samples = "counts has " + std::to_string(counts[1]) + " samples";
    check.require(sampled <= counts[1], samples + ", but the sum of times_sampled is " + std::to_string(sampled));
    const double removed_after = static_cast<double>(counts[0]) * max_times_sampled;
    check.require(max_times_sampled == 0 || static_cast<double>(counts[1]) <= removed_after,
                  samples + ", but an item is removed when it was sampled " + std::to_string(max_times_sampled) +
                      " times, and there were " + std::to_string(counts[0]) + " inserts");
    // The program may have other limits than when this was saved, but it can hardly make up for so much.
    const double most = 2 * limiter.most_samples(counts[0]);
    check.require(static_cast<double>(counts[1]) <= most,
                  samples + ", more than twice as many as the limits of the table allow with " +
                      std::to_string(counts[0]) + " inserts");
  }

  // The bytes of the chunks that its items refer to.
  std::uint64_t bytes(std::span<const ChunkRef> chunks) const {
    std::uint64_t sum = 0;
    for (const std::uint32_t one : std::set<std::uint32_t>(piece_chunks.begin(), piece_chunks.end())) {
      sum += chunks[one]->size();
    }
    return sum;
  }
};

void Table::save(Checkpoint& out, ChunkList& chunks) const {
  std::vector<std::uint32_t> order;
  Saved saved;
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
    saved.generations.push_back(slots_[slot].generation);
    if (slots_[slot].there()) order.push_back(slot);
  }
  std::sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) { return order_[a] < order_[b]; });
  for (const std::uint32_t slot : order) {
    const Item& item = slots_[slot];
    saved.keys.push_back(key_of(slot));
    saved.priorities.push_back(item.entry.priority);
    saved.times_sampled.push_back(item.times_sampled);
    saved.pieces.push_back(static_cast<std::uint32_t>(1 + item.entry.more.size()));
    saved.add(item.entry.piece, chunks);
    for (const Piece& one : item.entry.more) saved.add(one, chunks);
  }
  out.put(name() + "/columns", layout_.text());
  const RateCounts& counts = limiter_.counts();
  out.put(name() + "/counts", array_of<std::uint64_t>({counts.inserts, counts.samples, counts.removals}));
  Saved::each(saved, [&](const char* entry, const auto& values) { out.put(name() + "/" + entry, array_of(values)); });
}

void Table::load(const Checkpoint& in, std::span<const ChunkRef> chunks) {
  if (const auto columns = in.get<std::string>(name() + "/columns"); columns != layout_.text()) {
    throw Error(ErrorKind::failed, "the checkpoint belongs to another replay table " + quote(name()) +
                                       ": its columns are " + columns + ", but here they are " + layout_.text());
  }
  const auto counts = in.get<Array<std::uint64_t>>(name() + "/counts");
  const Saved saved = Saved::read(in, name());
  const SavedCheck check{name()};
  saved.check(check, chunks, layout_.row_bytes());
  saved.check_keys(check, shard_);
  saved.check_counts(check, counts.span(), limiter_, options_.max_times_sampled);
  const auto require_room = [this](std::uint64_t has, const std::string& of, std::uint64_t most) {
    if (has <= most) return;
    throw Error(ErrorKind::failed, "the saved replay table " + quote(name()) + " has " + std::to_string(has) + " " +
                                       of + ", but max_" + of + " is " + std::to_string(most) + ": make max_" + of +
                                       " at least as large");
  };
  require_room(saved.keys.size(), "items", options_.max_items);
  if (options_.max_bytes > 0) require_room(saved.bytes(chunks), "bytes", options_.max_bytes);
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
    if (slots_[slot].there()) drop(slot);
  }
  load_items(saved, chunks);
  // Somebody may have removed items from the saved arrays.
  limiter_.set({.inserts = counts[0], .samples = counts[1], .removals = counts[0] - saved.keys.size()});
}

// Into an empty table.
void Table::load_items(const Saved& saved, std::span<const ChunkRef> chunks) {
  slots_.assign(saved.generations.size(), {});
  order_.assign(slots_.size(), 0);
  free_.clear();
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    slots_[slot].generation = saved.generations[slot] % kGenerations;
  }
  std::size_t piece = 0;
  const auto next_piece = [&] {
    const std::size_t i = piece++;
    return Piece{.chunk = chunks[saved.piece_chunks[i]], .first = saved.piece_first[i], .steps = saved.piece_steps[i]};
  };
  for (std::size_t i = 0; i < saved.keys.size(); ++i) {
    const auto slot = static_cast<std::uint32_t>(saved.keys[i]);
    Entry entry{.piece = next_piece(), .more = {}, .priority = saved.priorities[i]};
    for (std::uint32_t more = 1; more < saved.pieces[i]; ++more) entry.more.push_back(next_piece());
    Item& item = slots_[slot];
    item.generation = static_cast<std::uint32_t>(saved.keys[i] >> kGenerationShift) % kGenerations;
    order_[slot] = inserted_++;
    item.times_sampled = saved.times_sampled[i];
    put(slot, std::move(entry));
  }
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
    if (!slots_[slot].there()) free_.push_back(slot);
  }
}

}  // namespace lp::replay

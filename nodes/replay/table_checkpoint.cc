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
#include "nodes/replay/table.h"

namespace lp::replay {
namespace {

template <class T>
Array<T> array_of(const std::vector<T>& values) {
  return Array<T>::copy_of(values);
}

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

  void check(const std::string& table, std::span<const ChunkRef> chunks, std::size_t row_bytes) const {
    const auto require = [&](bool holds, const std::string& what) {
      if (!holds) throw Error(ErrorKind::failed, "the saved replay table " + quote(table) + " is damaged: " + what);
    };
    const std::size_t count = keys.size();
    require(priorities.size() == count && times_sampled.size() == count && pieces.size() == count,
            "its arrays differ in length");
    require(piece_first.size() == piece_chunks.size() && piece_steps.size() == piece_chunks.size(),
            "the arrays of its pieces differ in length");
    std::size_t all = 0;
    for (const std::uint32_t some : pieces) {
      require(some > 0, "an item has no steps");
      all += some;
    }
    require(all == piece_chunks.size(), "its items do not have its pieces");
    std::unordered_set<std::uint32_t> slots;
    for (const std::uint64_t key : keys) {
      const auto slot = static_cast<std::uint32_t>(key);
      require(slot < generations.size() && slots.insert(slot).second, "a key is wrong, or is there twice");
    }
    for (std::size_t i = 0; i < piece_chunks.size(); ++i) {
      require(piece_chunks[i] < chunks.size(), "a chunk is missing");
      const Chunk& chunk = *chunks[piece_chunks[i]];
      require(piece_steps[i] > 0 && std::uint64_t{piece_first[i]} + piece_steps[i] <= chunk.steps(),
              "an item has steps that its chunk does not have");
      require(chunk.compressed() || chunk.size() == chunk.steps() * row_bytes, "a chunk has a wrong size");
    }
    for (std::size_t i = 0; i < count; ++i) {
      require(std::isfinite(priorities[i]) && priorities[i] >= 0,
              "the priority of item " + std::to_string(i) + " is " + std::to_string(priorities[i]));
    }
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
    if (slots_[slot].there) order.push_back(slot);
  }
  std::sort(order.begin(), order.end(),
            [this](std::uint32_t a, std::uint32_t b) { return slots_[a].inserted < slots_[b].inserted; });
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
  saved.check(name(), chunks, layout_.row_bytes());
  if (counts.size() != 3 || counts[0] < saved.keys.size()) {
    throw Error(ErrorKind::failed, "the saved replay table " + quote(name()) + " is damaged: its counts are wrong");
  }
  const auto require_room = [this](std::uint64_t has, const std::string& of, std::uint64_t most) {
    if (has <= most) return;
    throw Error(ErrorKind::failed, "the saved replay table " + quote(name()) + " has " + std::to_string(has) + " " +
                                       of + ", but max_" + of + " is " + std::to_string(most) + ": make max_" + of +
                                       " at least as large");
  };
  require_room(saved.keys.size(), "items", options_.max_items);
  if (options_.max_bytes > 0) require_room(saved.bytes(chunks), "bytes", options_.max_bytes);
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
    if (slots_[slot].there) drop(slot);
  }
  load_items(saved, chunks);
  // Somebody may have removed items from the saved arrays.
  limiter_.set({.inserts = counts[0], .samples = counts[1], .removals = counts[0] - saved.keys.size()});
}

// Into an empty table.
void Table::load_items(const Saved& saved, std::span<const ChunkRef> chunks) {
  slots_.assign(saved.generations.size(), {});
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
    item.inserted = inserted_++;
    item.times_sampled = saved.times_sampled[i];
    put(slot, std::move(entry));
  }
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
    if (!slots_[slot].there) free_.push_back(slot);
  }
}

}  // namespace lp::replay

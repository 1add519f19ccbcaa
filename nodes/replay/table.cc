#include "nodes/replay/table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/text.h"

namespace lp::replay {
namespace {

const TableOptions& checked(const TableOptions& options) {
  if (options.name.empty()) throw_failed("a replay table needs a name");
  if (options.max_items == 0 || options.max_items >= std::numeric_limits<std::uint32_t>::max()) {
    throw_failed("the replay table " + quote(options.name) + " has max_items " + std::to_string(options.max_items) +
                 ": give 1 to 4294967294");
  }
  if (options.limits.min_size > options.max_items) {
    throw_failed("the replay table " + quote(options.name) + " gives no sample before it has " +
                 std::to_string(options.limits.min_size) + " items, but its max_items is " +
                 std::to_string(options.max_items));
  }
  return options;
}

}  // namespace

std::uint32_t Entry::steps() const {
  std::uint32_t steps = piece.steps;
  for (const Piece& one : more) steps += one.steps;
  return steps;
}

std::uint32_t ChunkList::number_of(const ChunkRef& chunk) {
  const auto [found, added] = numbers_.emplace(chunk.get(), static_cast<std::uint32_t>(chunks_.size()));
  if (added) chunks_.push_back(chunk);
  return found->second;
}

void check_priority(double priority) {
  if (priority >= 0 && std::isfinite(priority)) return;
  throw_failed("the priority of an item is " + std::to_string(priority) + ": give a finite number of at least 0");
}

Table::Table(TableOptions options, std::uint32_t number, std::uint32_t shard, std::uint32_t incarnation, Random random)
    : options_(checked(options)),
      layout_(options_.columns),
      number_(number),
      shard_(shard),
      first_generation_((incarnation * 0x9E3779B1U) >> 8),
      random_(std::move(random)),
      limiter_(options_.limits),
      sampler_(make_selector(options_.sampler)),
      remover_(make_selector(options_.remover)) {
  if (options_.extension) extension_ = options_.extension();
}

Table::~Table() = default;

TableInfo Table::info() const {
  return {.name = options_.name,
          .columns = layout_.columns(),
          .size = size_,
          .bytes = bytes_,
          .counts = limiter_.counts(),
          .state = limiter_.text()};
}

void Table::check_room(const Entry& entry) const {
  constexpr std::uint64_t kMostBytes = std::numeric_limits<std::uint32_t>::max();
  const std::uint64_t most = options_.max_bytes == 0 ? kMostBytes : std::min(options_.max_bytes, kMostBytes);
  std::uint64_t bytes = entry.piece.chunk->size();
  for (const Piece& one : entry.more) bytes += one.chunk->size();
  if (bytes <= most) return;
  throw_failed("an item refers to chunks of " + std::to_string(bytes) + " bytes, but the replay table " +
               quote(options_.name) + " has room for " + std::to_string(most) +
               ": give the table a larger max_bytes, or the writer fewer chunk_steps");
}

void Table::insert(Entry entry) {
  while (size_ > 0 &&
         (size_ >= options_.max_items || (options_.max_bytes > 0 && bytes_ + new_bytes(entry) > options_.max_bytes))) {
    remove_slot(remover_->select(random_).slot);
  }
  const std::uint32_t slot = take_slot();
  order_[slot] = inserted_++;
  put(slot, std::move(entry));
  limiter_.inserted();
  if (extension_ != nullptr) extension_->on_insert(view(slot));
}

void Table::sample(std::uint32_t count, SampleBuilder& to) {
  const bool selects_alone = options_.max_times_sampled > 0 || extension_ != nullptr;
  for (std::uint32_t left = count; left > 0 && can_sample(); left = count - to.size()) {
    if (selects_alone) {
      sample_one(sampler_->select(random_), to);
    } else {
      sample_some(left, to);
    }
  }
}

// Nothing is removed, so items can be selected before the first one is read. Their memory, which no cache has in a
// large table, comes for all of them at the same time.
void Table::sample_some(std::uint32_t count, SampleBuilder& to) {
  constexpr std::uint32_t kMost = 32;
  std::array<Selection, kMost> selected;
  std::uint32_t size = std::min(count, kMost);
  while (!limiter_.can_sample(size)) --size;
  for (std::uint32_t i = 0; i < size; ++i) {
    selected[i] = sampler_->select(random_);
    __builtin_prefetch(&slots_[selected[i].slot], /*rw=*/1);
  }
  for (std::uint32_t i = 0; i < size; ++i) __builtin_prefetch(slots_[selected[i].slot].entry.piece.chunk.get());
  for (std::uint32_t i = 0; i < size; ++i) {
    const Piece& piece = slots_[selected[i].slot].entry.piece;
    piece.chunk->prefetch(piece.first * layout_.row_bytes());
  }
  for (std::uint32_t i = 0; i < size; ++i) sample_one(selected[i], to);
}

void Table::sample_one(const Selection& selection, SampleBuilder& to) {
  Item& item = slots_[selection.slot];
  ++item.times_sampled;
  limiter_.sampled();
  SampledItem& sampled = to.add_item();
  sampled.key = key_of(selection.slot);
  sampled.probability = selection.probability;
  sampled.priority = item.entry.priority;
  sampled.table_size = size_;
  sampled.times_sampled = item.times_sampled;
  sampled.pieces = static_cast<std::uint32_t>(1 + item.entry.more.size());
  to.add(item.entry.piece, layout_.row_bytes());
  for (const Piece& one : item.entry.more) to.add(one, layout_.row_bytes());
  if (extension_ != nullptr) extension_->on_sample(view(selection.slot));
  if (options_.max_times_sampled > 0 && item.times_sampled >= options_.max_times_sampled) remove_slot(selection.slot);
}

bool Table::update(std::uint64_t key, double priority) {
  const std::uint32_t slot = find(key);
  if (slot == kNone) return false;
  slots_[slot].entry.priority = priority;
  sampler_->update(slot, priority);
  remover_->update(slot, priority);
  if (extension_ != nullptr) extension_->on_update(view(slot));
  return true;
}

bool Table::remove(std::uint64_t key) {
  const std::uint32_t slot = find(key);
  if (slot == kNone) return false;
  remove_slot(slot);
  return true;
}

void Table::reset() {
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
    if (slots_[slot].there()) remove_slot(slot);
  }
  limiter_.set({});
}

std::uint64_t Table::key_of(std::uint32_t slot) const {
  return std::uint64_t{shard_} << kShardShift | std::uint64_t{slots_[slot].generation} << kGenerationShift | slot;
}

std::uint32_t Table::find(std::uint64_t key) const {
  const auto slot = static_cast<std::uint32_t>(key);
  return slot < slots_.size() && slots_[slot].there() && key_of(slot) == key ? slot : kNone;
}

ItemView Table::view(std::uint32_t slot) const {
  const Item& item = slots_[slot];
  return {.key = key_of(slot),
          .priority = item.entry.priority,
          .times_sampled = item.times_sampled,
          .steps = item.entry.steps()};
}

std::uint32_t Table::take_slot() {
  std::uint32_t slot = 0;
  if (free_.empty()) {
    slot = static_cast<std::uint32_t>(slots_.size());
    order_.resize(slots_.size() + 1);
    slots_.emplace_back().generation = first_generation_;
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  slots_[slot].generation = (slots_[slot].generation + 1) % kGenerations;
  return slot;
}

// Makes a taken slot the place of an item.
void Table::put(std::uint32_t slot, Entry entry) {
  Item& item = slots_[slot];
  item.entry = std::move(entry);
  use(item.entry.piece, 1);
  for (Piece& one : item.entry.more) use(one, 1);
  sampler_->insert(slot, item.entry.priority);
  remover_->insert(slot, item.entry.priority);
  ++size_;
}

void Table::remove_slot(std::uint32_t slot) {
  if (extension_ != nullptr) extension_->on_delete(view(slot));
  drop(slot);
  limiter_.removed();
}

void Table::drop(std::uint32_t slot) {
  Item& item = slots_[slot];
  sampler_->remove(slot);
  remover_->remove(slot);
  use(item.entry.piece, -1);
  for (Piece& one : item.entry.more) use(one, -1);
  item.entry = {};
  item.times_sampled = 0;
  free_.push_back(slot);
  --size_;
}

// The bytes of the chunks of an entry to which no item refers yet.
std::uint64_t Table::new_bytes(const Entry& entry) const {
  const auto bytes = [this](const Piece& piece) { return piece.chunk->uses(number_) == 0 ? piece.chunk->size() : 0; };
  std::uint64_t sum = bytes(entry.piece);
  for (const Piece& one : entry.more) sum += bytes(one);
  return sum;
}

// Counts an item's use of a chunk, or its end, and the bytes of the chunk with the first use.
void Table::use(Piece& piece, int change) {
  std::uint32_t& uses = piece.chunk->uses(number_);
  if (change > 0 && uses++ == 0) bytes_ += piece.chunk->size();
  if (change < 0 && --uses == 0) bytes_ -= piece.chunk->size();
}

}  // namespace lp::replay

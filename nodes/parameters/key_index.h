#pragma once
// Where the rows of a tensor's keys lie in the memory of a server. Rows lie one after another in slots. Keys are looked
// up as sorted lists, and the result is the runs of neighbouring slots, so that a whole dense tensor is one run. No key
// has memory of its own.
//
// A value. One thread at a time.

#include <cstdint>
#include <span>
#include <vector>

#include "lp/base/array.h"
#include "nodes/parameters/partition.h"

namespace lp {

// `count` consecutive entries of a key list, from `at` on; their rows lie from `slot` on.
struct SlotRun {
  std::uint32_t at = 0;
  std::uint32_t slot = 0;
  std::uint32_t count = 0;

  friend bool operator==(const SlotRun&, const SlotRun&) = default;
};

// A dense index knows the ranges of its keys, and slots ascend with keys. A sparse index grows: its keys are in a few
// sorted levels, each at least twice as long as the next, so that insertions move a key O(log n) times in all.
class KeyIndex {
 public:
  static constexpr std::uint64_t kMostKeys = 0xffffffffU;  // at one server; beyond: Error::failed

  KeyIndex() = default;                                 // sparse
  explicit KeyIndex(std::span<const KeyRange> ranges);  // dense; ranges ascend

  // The sparse index with these keys_by_slot(). Error::failed when a key occurs twice.
  static KeyIndex of_slots(std::span<const std::uint64_t> keys);

  bool dense() const { return dense_; }
  std::uint32_t size() const { return size_; }
  std::span<const KeyRange> ranges() const { return ranges_; }  // dense

  // The runs of `keys`, which must ascend strictly. Keys that are not here are left out; their positions in `keys` are
  // put into `missing`, if given. Error::failed for keys that do not ascend, naming the first.
  std::vector<SlotRun> find(std::span<const std::uint64_t> keys, std::vector<std::uint32_t>* missing) const;

  // The runs of all keys in this range that are here, ascending.
  std::vector<SlotRun> find(const KeyRange& range) const;

  // Gives new slots to keys that ascend and are not here. Sparse only.
  void insert(std::span<const std::uint64_t> keys);

  // The keys of this range that are here, ascending.
  Array<std::uint64_t> keys_in(const KeyRange& range) const;
  // Every key, by slot. The index can be rebuilt from this.
  Array<std::uint64_t> keys_by_slot() const;

 private:
  struct Level {
    std::vector<std::uint64_t> keys{};
    std::vector<std::uint32_t> slots{};
  };
  static Level merged(const Level& a, const Level& b);

  bool dense_ = false;
  std::uint32_t size_ = 0;
  std::vector<KeyRange> ranges_{};      // dense
  std::vector<std::uint32_t> first_{};  // dense: the slot of the first key of each range
  std::vector<Level> levels_{};         // sparse
};

}  // namespace lp

#pragma once
// Values by the bytes of their keys, and their division into key groups when they are saved. Values; one thread.

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "nodes/dataflow/key_hash.h"
#include "nodes/dataflow/record_codec.h"
#include "nodes/stream/operator_state.h"

namespace lp::dataflow {

struct HashKey {
  using is_transparent = void;
  std::size_t operator()(std::string_view key) const { return key_hash(key); }
};
template <class V>
using ByKeyBytes = std::unordered_map<std::string, V, HashKey, std::equal_to<>>;

// Entries of a table by the bytes of their keys, in their order.
template <class Table>
std::vector<typename Table::const_pointer> in_order(const Table& table) {
  std::vector<typename Table::const_pointer> out;
  out.reserve(table.size());
  for (const auto& one : table) out.push_back(&one);
  std::sort(out.begin(), out.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
  return out;
}

// Saves entries by the key group of their keys.
class GroupedWriter {
 public:
  RecordWriter& of(std::string_view key) { return groups_[key_group(key)]; }
  void finish(OperatorState& out) {
    for (std::uint32_t group = 0; group < kKeyGroups; ++group) {
      if (!groups_[group].empty()) out.push_back({.group = group, .bytes = groups_[group].take(0)});
    }
  }

 private:
  std::array<RecordWriter, kKeyGroups> groups_{};
};

}  // namespace lp::dataflow

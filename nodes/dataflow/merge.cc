#include "nodes/dataflow/merge.h"

#include <algorithm>
#include <utility>

namespace lp::dataflow {
namespace {

constexpr std::size_t kLeastBlock = std::size_t{1} << 14;
constexpr std::size_t kMostBlock = std::size_t{1} << 20;
constexpr std::size_t kMostInputs = 256;  // each has a descriptor

Merge merge_all(std::vector<MergeInput> inputs, std::size_t memory) {
  const std::size_t block = std::clamp(memory / std::max<std::size_t>(inputs.size(), 1), kLeastBlock, kMostBlock);
  std::vector<RunReader> readers;
  for (const MergeInput& one : inputs) readers.emplace_back(one.open(), one.bytes, block);
  return Merge(std::move(readers));
}

// The memory that blocks of the least size need.
std::uint64_t least_memory(const std::vector<MergeInput>& inputs) {
  std::uint64_t bytes = 0;
  for (const MergeInput& one : inputs) bytes += std::min<std::uint64_t>(one.bytes, kLeastBlock);
  return bytes;
}

}  // namespace

Merge::Merge(std::vector<RunReader> readers) {
  for (RunReader& one : readers) inputs_.push_back({.reader = std::move(one)});
  losers_.resize(std::max<std::size_t>(inputs_.size(), 1));
}

void Merge::advance(std::uint32_t input) {
  Input& one = inputs_[input];
  one.over = !one.reader.next(one.pair);
  if (!one.over) one.prefix = prefix_of(one.pair.key);
}

bool Merge::before(std::uint32_t a, std::uint32_t b) const {
  const Input& left = inputs_[a];
  const Input& right = inputs_[b];
  if (left.over || right.over) return left.over == right.over ? a < b : right.over;
  if (left.prefix != right.prefix) return left.prefix < right.prefix;
  const int order = left.pair.key.compare(right.pair.key);
  return order != 0 ? order < 0 : a < b;
}

// The winner below a node; the leaves are numbered from the number of inputs on.
std::uint32_t Merge::build(std::size_t node) {
  if (node >= inputs_.size()) return static_cast<std::uint32_t>(node - inputs_.size());
  std::uint32_t winner = build(2 * node);
  std::uint32_t loser = build(2 * node + 1);
  if (before(loser, winner)) std::swap(winner, loser);
  losers_[node] = loser;
  return winner;
}

void Merge::replay(std::uint32_t input) {
  std::uint32_t winner = input;
  for (std::size_t node = (input + inputs_.size()) / 2; node > 0; node /= 2) {
    if (before(losers_[node], winner)) std::swap(losers_[node], winner);
  }
  losers_[0] = winner;
}

bool Merge::next(Pair& pair) {
  if (inputs_.empty()) return false;
  if (!std::exchange(begun_, true)) {
    for (std::uint32_t i = 0; i < inputs_.size(); ++i) advance(i);
    losers_[0] = inputs_.size() == 1 ? 0 : build(1);
  } else {
    advance(losers_[0]);
    replay(losers_[0]);
  }
  const Input& winner = inputs_[losers_[0]];
  pair = winner.pair;
  return !winner.over;
}

Merge merge_within(std::vector<MergeInput> inputs, std::size_t memory, const std::function<std::string()>& new_file) {
  const std::size_t most = std::clamp<std::size_t>(memory / kLeastBlock, 2, kMostInputs);
  while (inputs.size() > kMostInputs || (inputs.size() > most && least_memory(inputs) > memory)) {
    std::vector<MergeInput> merged;
    for (std::size_t i = 0; i < inputs.size(); i += most) {
      const std::size_t end = std::min(i + most, inputs.size());
      if (end - i == 1) {
        merged.push_back(std::move(inputs[i]));
        continue;
      }
      Merge merge = merge_all(
          {inputs.begin() + static_cast<std::ptrdiff_t>(i), inputs.begin() + static_cast<std::ptrdiff_t>(end)}, memory);
      RunWriter writer(new_file(), 1);
      for (Pair pair; merge.next(pair);) writer.add(0, pair);
      const SortedRun run = writer.finish();
      merged.push_back(
          {.bytes = run.segments[0].bytes, .open = [run] { return file_segment(run.path, run.segments[0]); }});
    }
    inputs = std::move(merged);
  }
  return merge_all(std::move(inputs), memory);
}

}  // namespace lp::dataflow

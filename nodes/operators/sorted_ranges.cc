#include "nodes/operators/sorted_ranges.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "nodes/dataflow/partitioner.h"
#include "nodes/dataflow/record_codec.h"

namespace lp::dataflow {

namespace {

StatePiece piece_of(const RangedRun& run, std::uint32_t replica) {
  RecordWriter bytes;
  write_record(bytes, run);
  return {.group = replica, .bytes = bytes.take(0)};
}

RangedRun run_in(const StatePiece& piece) {
  RecordBytes in(piece.bytes);
  return read_record<RangedRun>(in);
}

}  // namespace

SortedRanges::SortedRanges(StageSite& site) : site_(site), buffer_(std::in_place, site.options.memory, 1) {}

void SortedRanges::add(const Pair& pair) {
  if (!buffer_->add(0, pair)) [[unlikely]] {
    spill();
    if (!buffer_->add(0, pair)) return add_large(pair);
  }
  bytes_ += pair.key.size() + pair.value.size();
}

// A pair that is larger than the memory is a run of its own.
void SortedRanges::add_large(const Pair& pair) {
  RunWriter alone(site_.new_file(), 1);
  alone.add(0, pair);
  runs_.push_back({alone.finish(), {std::string(pair.key.substr(0, kBeginBytes))}});
}

std::uint32_t SortedRanges::blocks() const {
  constexpr std::size_t kLeast = 4096;  // bytes
  const std::size_t block = std::max(kLeast, static_cast<std::size_t>(site_.options.memory) / kBlocks);
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(bytes_ / block, 1, buffer_->size()));
}

void SortedRanges::spill() {
  if (!buffer_ || buffer_->empty()) return;
  const std::uint32_t blocks = this->blocks();
  RangedRun ranged;
  RunWriter run(site_.new_file(), blocks);
  const std::span<const SortEntry> all = buffer_->sorted();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Pair pair = buffer_->pair_at(all[i]);
    const auto block = static_cast<std::uint32_t>(i * blocks / all.size());
    if (block == ranged.begins.size()) ranged.begins.emplace_back(pair.key.substr(0, kBeginBytes));
    run.add(block, pair);
  }
  ranged.run = run.finish();
  runs_.push_back(std::move(ranged));
  buffer_->clear();
  bytes_ = 0;
}

void SortedRanges::save(OperatorState& out) const {
  for (const RangedRun& one : runs_) out.push_back(piece_of(one, kAnyReplica));
}

void SortedRanges::load(const StatePiece& piece) { runs_.push_back(run_in(piece)); }

std::vector<RangedRun> SortedRanges::take() {
  spill();
  buffer_.reset();  // its memory is for the merge
  return std::exchange(runs_, {});
}

void GivenRanges::save(OperatorState& out) const {
  for (const auto& one : runs_) out.push_back(piece_of(one.second, kEveryReplica));
}

void GivenRanges::load(const StatePiece& piece) { add(run_in(piece)); }

std::vector<RangedRun> GivenRanges::take() {
  std::vector<RangedRun> out;
  for (auto& one : runs_) out.push_back(std::move(one.second));
  runs_.clear();
  return out;
}

KeyRange range_of(const std::vector<RangedRun>& runs, std::uint32_t replica, std::uint32_t replicas) {
  std::vector<std::string> sample;
  for (const RangedRun& one : runs) std::copy(one.begins.begin(), one.begins.end(), std::back_inserter(sample));
  std::sort(sample.begin(), sample.end());
  const std::vector<std::string> bounds = bounds_of(sample, replicas);
  if (replica > bounds.size()) return {};  // there are fewer keys than replicas
  const bool last = replica == bounds.size();
  return {.begin = replica == 0 ? "" : bounds[replica - 1], .end = last ? "" : bounds[replica], .last = last};
}

std::vector<MergeInput> blocks_in(const std::vector<RangedRun>& runs, const KeyRange& range) {
  std::vector<MergeInput> out;
  for (const auto& [run, begins] : runs) {
    // A block may have keys that begin as the next one's first key.
    auto first = std::lower_bound(begins.begin(), begins.end(), range.begin) - begins.begin();
    const auto end =
        (range.last ? begins.end() : std::lower_bound(begins.begin(), begins.end(), range.end)) - begins.begin();
    if (first > 0) --first;
    if (first >= end) continue;
    Segment all = run.segments[static_cast<std::size_t>(first)];
    for (auto block = first + 1; block < end; ++block) all.bytes += run.segments[static_cast<std::size_t>(block)].bytes;
    out.push_back({.bytes = all.bytes, .open = [path = run.path, all] { return file_segment(path, all); }});
  }
  return out;
}

}  // namespace lp::dataflow

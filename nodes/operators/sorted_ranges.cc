#include "nodes/operators/sorted_ranges.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <utility>

#include "lp/base/error.h"
#include "nodes/dataflow/partitioner.h"
#include "nodes/dataflow/record_codec.h"

namespace lp::dataflow {

namespace {

StatePiece piece_of(const RangedRun& run, std::uint32_t replica) {
  RecordWriter bytes;
  write_record(bytes, run);
  return {.group = replica, .bytes = bytes.take(0)};
}

}  // namespace

RangedWriter::RangedWriter(StageSite& site, ScratchLife life)
    : most_(std::max(kLeastBlock, static_cast<std::size_t>(site.options.memory) / kBlocks)),
      run_(site.new_file(life), 1) {}

void RangedWriter::add(const Pair& pair) {
  if (empty() || bytes_ >= most_) {
    out_.begins.emplace_back(pair.key.substr(0, kBeginBytes));
    bytes_ = 0;
  }
  bytes_ += pair.key.size() + pair.value.size();
  run_.add(static_cast<std::uint32_t>(out_.begins.size() - 1), pair);
}

RangedRun RangedWriter::finish() {
  out_.run = run_.finish();
  return std::move(out_);
}

SortedRanges::SortedRanges(StageSite& site) : site_(site), buffer_(std::in_place, site.options.memory, 1) {}

void SortedRanges::add(const Pair& pair) {
  if (!buffer_->add(0, pair)) [[unlikely]] {
    spill();
    if (!buffer_->add(0, pair)) add_large(pair);
  }
}

// A pair that is larger than the memory is a run of its own.
void SortedRanges::add_large(const Pair& pair) {
  RangedWriter alone(site_, ScratchLife::run);
  alone.add(pair);
  runs_.push_back(alone.finish());
}

void SortedRanges::spill() {
  if (!buffer_ || buffer_->empty()) return;
  RangedWriter run(site_, ScratchLife::run);
  for (const SortEntry& one : buffer_->sorted()) run.add(buffer_->pair_at(one));
  runs_.push_back(run.finish());
  buffer_->clear();
}

void SortedRanges::save(OperatorState& out) const {
  for (const RangedRun& one : runs_) out.push_back(piece_of(one, kAnyReplica));
}

void SortedRanges::load(const StatePiece& piece) {
  RecordBytes in(piece.bytes);
  runs_.push_back(run_in(in));
}

std::vector<RangedRun> SortedRanges::take() {
  spill();
  buffer_.reset();  // its memory is for the merge
  return std::exchange(runs_, {});
}

void GivenRanges::save(OperatorState& out) const {
  for (const auto& one : runs_) out.push_back(piece_of(one.second, kEveryReplica));
}

void GivenRanges::load(const StatePiece& piece) {
  RecordBytes in(piece.bytes);
  add(run_in(in));
}

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

BlockRange blocks_of(const RangedRun& run, const KeyRange& range) {
  const std::vector<std::string>& begins = run.begins;
  // A block may have keys that begin as the next one's first key.
  const auto first = std::lower_bound(begins.begin(), begins.end(), range.begin);
  const auto end = range.last ? begins.end() : std::lower_bound(begins.begin(), begins.end(), range.end);
  BlockRange out{.begin = static_cast<std::size_t>(first - begins.begin()),
                 .end = static_cast<std::size_t>(end - begins.begin())};
  if (out.begin > 0) --out.begin;
  out.end = std::max(out.begin, out.end);
  return out;
}

std::unique_ptr<SegmentSource> open_run(const std::string& path, const Segment& segment) try {
  return file_segment(path, segment);
} catch (const Error&) {
  if (std::filesystem::exists(path)) throw;
  throw MissingFile(path);
}

RangedRun run_in(RecordBytes& in) {
  auto run = read_record<RangedRun>(in);
  need_file(run.run.path);
  return run;
}

void add_blocks(const RangedRun& run, const KeyRange& range, std::vector<MergeInput>& out) {
  const BlockRange blocks = blocks_of(run, range);
  if (blocks.begin == blocks.end) return;
  Segment all = run.run.segments[blocks.begin];
  for (std::size_t block = blocks.begin + 1; block < blocks.end; ++block) all.bytes += run.run.segments[block].bytes;
  out.push_back({.bytes = all.bytes, .open = [path = run.run.path, all] { return open_run(path, all); }});
}

}  // namespace lp::dataflow

#include "nodes/windows/spilled_runs.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "nodes/dataflow/record_codec.h"

namespace lp::dataflow {

namespace {

void remove_file(const std::string& path) {
  std::error_code ignored;  // all of them go at the end of the pipeline
  std::filesystem::remove(path, ignored);
}

}  // namespace

KeyRange range_of_key(std::string_view key) {
  KeyRange out{.begin = std::string(key), .end = std::string(key)};
  out.end.push_back('\0');
  return out;
}

void SpilledRuns::add(RangedRun run, EventTime until) { runs_.push_back({.ranged = std::move(run), .until = until}); }

void SpilledRuns::remove(const Run& run) {
  const std::string& path = run.ranged.run.path;
  if (!site_.made(path)) return;
  if (run.named) {
    old_.push_back({.path = path});
  } else {
    remove_file(path);
  }
}

void SpilledRuns::forget(const std::function<bool(EventTime)>& gone) {
  const auto first =
      std::stable_partition(runs_.begin(), runs_.end(), [&](const Run& one) { return !gone(one.until); });
  for (auto one = first; one != runs_.end(); ++one) remove(*one);
  runs_.erase(first, runs_.end());
}

void SpilledRuns::each_in(const KeyRange& range, std::size_t memory, const std::function<bool(Groups&)>& f) {
  each_from(range, memory, [&](Groups& group) { return (range.last || group.key() < range.end) && f(group); });
}

std::string SpilledRuns::each_from(const KeyRange& range, std::size_t memory, const std::function<bool(Groups&)>& f) {
  std::string behind;
  for (const Run& one : runs_) {
    const std::size_t next = blocks_of(one.ranged, range).end;
    if (next == one.ranged.begins.size()) continue;
    if (const std::string& begin = one.ranged.begins[next]; behind.empty() || begin < behind) behind = begin;
  }
  Groups groups(merge(range, memory));
  while (groups.next()) {
    if (groups.key() >= range.begin && !f(groups)) break;
  }
  return behind;
}

std::size_t SpilledRuns::blocks(const KeyRange& range) const {
  std::size_t out = 0;
  for (const Run& one : runs_) {
    const BlockRange blocks = blocks_of(one.ranged, range);
    out += blocks.end - blocks.begin;
  }
  return out;
}

Merge SpilledRuns::merge(const KeyRange& range, std::size_t memory) {
  std::vector<MergeInput> inputs;
  for (const Run& one : runs_) add_blocks(one.ranged, range, inputs);
  std::vector<std::string> between;
  Merge merge = merge_within(std::move(inputs), memory, [&] { return between.emplace_back(site_.new_file()); });
  for (const std::string& one : between) remove_file(one);  // the merge has opened them
  return merge;
}

void SpilledRuns::cut(std::uint64_t number) {
  for (Run& one : runs_) one.named = true;
  for (Old& one : old_) {
    if (one.cut == 0) one.cut = number;
  }
}

void SpilledRuns::commit(std::uint64_t number) {
  std::erase_if(old_, [number](const Old& one) {
    const bool over = one.cut > 0 && one.cut <= number;
    if (over) remove_file(one.path);
    return over;
  });
}

void SpilledRuns::save(OperatorState& out) const {
  for (const Run& one : runs_) {
    RecordWriter bytes;
    bytes.number(kind_);
    bytes.number(one.until);
    write_record(bytes, one.ranged);
    out.push_back({.group = kEveryReplica, .bytes = bytes.take(0)});
  }
}

bool SpilledRuns::load(const StatePiece& piece) {
  if (piece.group < kKeyGroups) return false;
  RecordBytes in(piece.bytes);
  if (in.number<std::uint8_t>() != kind_) return false;
  Run run{.until = in.number<EventTime>()};
  run.ranged = run_in(in);
  std::string& path = run.ranged.run.path;
  std::string own = site_.take_over(path);
  run.named = own == path;
  path = std::move(own);
  runs_.push_back(std::move(run));
  return true;
}

}  // namespace lp::dataflow

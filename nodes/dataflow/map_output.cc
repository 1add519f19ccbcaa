#include "nodes/dataflow/map_output.h"

#include <utility>

#include "lp/base/error.h"

namespace lp::dataflow {

MapOutput::MapOutput(Partitioner partitioner, std::size_t memory, std::optional<std::size_t> combined,
                     std::function<std::string()> new_file)
    : partitioner_(std::move(partitioner)), new_file_(std::move(new_file)) {
  if (combined) {
    table_.emplace(memory, *combined);
  } else {
    buffer_.emplace(memory, partitioner_.partitions());
  }
}

void MapOutput::spill() {
  RunWriter run(new_file_(), partitioner_.partitions());
  if (table_) {
    for (const SortEntry& one : table_->sorted(partitioner_)) run.add(one.partition, table_->pair_at(one));
    table_->clear();
  } else {
    for (const SortEntry& one : buffer_->sorted()) run.add(one.partition, buffer_->pair_at(one));
    buffer_->clear();
  }
  runs_.push_back(run.finish());
}

void MapOutput::add_to_full(const Pair& pair) {
  if (!buffer_->empty()) spill();
  const std::uint32_t partition = partitioner_(pair.key);
  if (buffer_->add(partition, pair)) return;
  RunWriter alone(new_file_(), partitioner_.partitions());  // larger than the memory
  alone.add(partition, pair);
  runs_.push_back(alone.finish());
}

char* MapOutput::add_to_full(std::string_view key, bool& added) {
  if (!table_->empty()) spill();
  char* const value = table_->find_or_add(key, added);
  if (value != nullptr) return value;
  throw Error(ErrorKind::failed, "a key of " + std::to_string(key.size()) +
                                     " bytes is larger than the worker's memory: give MapReduceOptions::memory more");
}

std::vector<SortedRun> MapOutput::finish() {
  if (table_ ? !table_->empty() : !buffer_->empty()) spill();
  return std::move(runs_);
}

std::vector<std::string> MapOutput::keys() {
  std::vector<std::string> out;
  const std::span<const SortEntry> all = buffer_->sorted();
  const std::size_t step = all.size() / kMostKeys + 1;
  for (std::size_t i = 0; i < all.size(); i += step) out.emplace_back(buffer_->pair_at(all[i]).key);
  return out;
}

}  // namespace lp::dataflow

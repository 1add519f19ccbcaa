#pragma once
// What the master of a map-reduce and its workers tell each other. Values.

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "nodes/dataflow/input_files.h"
#include "nodes/dataflow/sorted_run.h"

namespace lp {

// What all tasks that count have done. Of several attempts of a task, one counts.
struct MapReduceCounters {
  std::uint64_t input_records = 0;
  std::uint64_t input_bytes = 0;
  std::uint64_t remote_bytes = 0;    // input that workers read from other hosts
  std::uint64_t pairs = 0;           // that map emitted
  std::uint64_t shuffled_pairs = 0;  // fewer, with a combiner
  std::uint64_t shuffled_bytes = 0;
  std::uint64_t runs = 0;    // sorted files of the mappers: more than one a task when its memory was full
  std::uint64_t groups = 0;  // keys
  std::uint64_t output_bytes = 0;
  std::uint64_t skipped = 0;                      // bad records, and keys on which reduce failed
  std::map<std::string, std::uint64_t> counts{};  // counters of the job, by Emit::count and Output::count

  void add(const MapReduceCounters& more);
};

namespace dataflow {

enum class TaskKind : std::uint8_t { none, sample, map, reduce, over };

// A record on which map failed, or a key on which reduce did.
struct BadRecord {
  std::string place{};       // its file, or the key
  std::uint64_t offset = 0;  // in the file
  friend auto operator<=>(const BadRecord&, const BadRecord&) = default;
};

// A segment that a reducer merges.
struct ReduceInput {
  std::uint32_t map_task = 0;
  std::uint32_t worker = 0;  // that wrote it
  std::string path{};
  Segment segment{};
};

struct WorkOrder {
  std::uint64_t plan = 0;  // number of the plan: a report on another plan is dropped
  TaskKind kind = TaskKind::none;
  std::uint32_t task = 0;
  std::uint32_t partitions = 1;
  InputTask input{};                  // sample, map
  std::vector<std::string> bounds{};  // map: of the partitions by range; empty: by hash
  std::vector<ReduceInput> runs{};    // reduce
  std::vector<BadRecord> skip{};      // sorted
  std::uint64_t may_skip = 0;         // further ones
};

struct HeavyKey {
  std::string key{};        // its beginning
  std::uint64_t pairs = 0;  // that reduce read of it
};

struct WorkReport {
  std::uint64_t plan = 0;
  TaskKind kind = TaskKind::none;
  std::uint32_t task = 0;
  MapReduceCounters counters{};
  std::vector<SortedRun> runs{};      // map
  std::vector<std::string> sample{};  // sample: keys, sorted
  HeavyKey heavy{};                   // reduce: the key with most pairs
  // Without these, the task is done.
  std::string failure{};
  std::vector<BadRecord> bad{};       // with a failure on records
  bool repeats = false;               // the function was called with that record again, and has failed again
  bool hopeless = false;              // no other attempt can do the task
  bool died = false;                  // the worker's process ended on that record
  std::vector<std::uint32_t> lost{};  // map tasks whose runs cannot be read
  bool failed() const { return !failure.empty(); }
};

}  // namespace dataflow
}  // namespace lp

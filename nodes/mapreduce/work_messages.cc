#include "nodes/mapreduce/work_messages.h"

namespace lp {

void MapReduceCounters::add(const MapReduceCounters& more) {
  input_records += more.input_records;
  input_bytes += more.input_bytes;
  remote_bytes += more.remote_bytes;
  pairs += more.pairs;
  shuffled_pairs += more.shuffled_pairs;
  shuffled_bytes += more.shuffled_bytes;
  runs += more.runs;
  groups += more.groups;
  output_bytes += more.output_bytes;
  skipped += more.skipped;
  for (const auto& [name, count] : more.counts) counts[name] += count;
}

}  // namespace lp

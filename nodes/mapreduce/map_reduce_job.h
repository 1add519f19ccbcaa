#pragma once
// The tasks of a job, made of the functions that its user writes. A job is a class with these members, static or not;
// each task has a copy of the job.
//
// - map(record, emit) takes the bytes of a record, or a `const lp::CsvRow&`, and an `lp::Emit<Key, Value>&`. Keys are
//   texts, integers or double, and come to reduce in their order. Values are texts or trivially copyable.
// - combine(sum, one), const, adds a value to another one of the same key. It is called in any grouping, so it must be
//   associative. Optional.
// - reduce(key, values, out) takes a key, an `lp::Values<Value>&` and an `lp::Output&`. A job with combine may leave it
//   out: then a line is written for each key, with the key, a tabulator and the combined value.
//
// Values; any thread.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "lp/base/text.h"
#include "nodes/dataflow/csv_row.h"
#include "nodes/dataflow/emit.h"
#include "nodes/dataflow/groups.h"
#include "nodes/dataflow/output.h"
#include "nodes/dataflow/record_reader.h"
#include "nodes/mapreduce/failed_records.h"
#include "nodes/mapreduce/task_context.h"
#include "nodes/mapreduce/work_messages.h"

namespace lp::dataflow {

// A job without its types, for the nodes.
struct JobTasks {
  bool csv = false;  // map takes rows
  std::function<WorkReport(const WorkOrder&, const TaskContext&)> sample{};
  std::function<WorkReport(const WorkOrder&, const TaskContext&)> map{};
  std::function<WorkReport(const WorkOrder&, const TaskContext&, FileWriter& output)> reduce{};
};

template <class TheRecord, class K, class V>
struct MapTypes {
  using Record = std::remove_cvref_t<TheRecord>;
  using Key = K;
  using Value = V;
  static constexpr bool kCsv = std::is_same_v<Record, CsvRow>;
  static_assert(kCsv || std::is_same_v<Record, std::string_view>,
                "lp: a job's map takes a std::string_view, or a const lp::CsvRow&, and an lp::Emit<Key, Value>&");
};
template <class R, class K, class V>
MapTypes<R, K, V> map_types(void (*)(R, Emit<K, V>&));
template <class J, class R, class K, class V>
MapTypes<R, K, V> map_types(void (J::*)(R, Emit<K, V>&));
template <class J, class R, class K, class V>
MapTypes<R, K, V> map_types(void (J::*)(R, Emit<K, V>&) const);

template <class Job>
using TypesOf = decltype(map_types(&Job::map));
template <class Job>
concept Combines = requires(const Job& job, typename TypesOf<Job>::Value& sum) {
  job.combine(sum, sum);
};
template <class Job>
concept Reduces = requires {
  &Job::reduce;
};

// Calls f(record, reader) for each record of the task that is not skipped. A failure names its records.
template <bool kCsv, class F>
void for_each_record(const WorkOrder& order, const TaskContext& context, WorkReport& report, const F& f) {
  constexpr std::uint64_t kCheckEvery = 1 << 6;  // records
  CsvRow row(context.input.separator);
  FailedRecords failed(order.may_skip);
  for (const InputSplit& split : order.input.splits) {
    RecordReader reader(split, context.input, context.open_input);
    const std::span<const BadRecord> skip = bad_in(order.skip, split.path);
    const auto use = [&](std::string_view record) {
      if constexpr (kCsv) {
        row.parse(record);
        row.expect(split.columns);
        f(row, reader);
      } else {
        f(record, reader);
      }
    };
    report.counters.input_bytes += split.end - split.begin;
    if (reader.is_remote()) report.counters.remote_bytes += split.end - split.begin;
    context.note.set_place(split.path);
    for (bool more = true; more;) {
      std::string_view record;
      try {
        while (record = {}, more = reader.next(record)) {
          if (++report.counters.input_records % kCheckEvery == 0) context.check();
          context.note.set_offset(reader.offset());
          if (!skip.empty() && has_record(skip, reader.offset())) {
            ++report.counters.skipped;
          } else {
            use(record);
          }
        }
      } catch (const RecordError&) {
        if (has_record(skip, reader.offset())) {
          ++report.counters.skipped;
        } else {
          failed.add_record(split.path, reader.offset(), record, [] { throw; });
        }
      } catch (...) {
        if (record.data() == nullptr) throw;  // the file cannot be read
        failed.add_record(split.path, reader.offset(), record, [&] { use(record); });
      }
    }
  }
  failed.end();
}

// The task's copy of a job. After a function of it has failed, there is a new copy: the old one may be half changed,
// and fail on the next records, too.
template <class Job>
class JobCopy {
 public:
  explicit JobCopy(const Job& job) : whole_(job), job_(job) {}
  // Calls f(job).
  template <class F>
  void call(const F& f) {
    try {
      f(*job_);
    } catch (...) {
      job_.emplace(whole_);
      throw;
    }
  }
  const Job& job() const { return *job_; }

 private:
  const Job& whole_;
  std::optional<Job> job_;
};

template <class Job>
WorkReport map_with(const Job& whole, MapOutput& output, const WorkOrder& order, const TaskContext& context) {
  using Types = TypesOf<Job>;
  typename Emit<typename Types::Key, typename Types::Value>::Fold fold = nullptr;
  if constexpr (Combines<Job>) {
    fold = [](const void* the_job, auto& sum, const auto& one) { static_cast<const Job*>(the_job)->combine(sum, one); };
  }
  JobCopy<Job> copy(whole);
  Emit<typename Types::Key, typename Types::Value> emit(output, output.combines() ? fold : nullptr, &copy.job());
  WorkReport report{.plan = order.plan, .kind = order.kind, .task = order.task};
  for_each_record<Types::kCsv>(order, context, report,
                               [&](const typename Types::Record& record, const RecordReader& reader) {
                                 emit.set_place(reader.split().path, reader.offset());
                                 copy.call([&](Job& job) { job.map(record, emit); });
                               });
  for (const auto& [name, count] : emit.counts()) report.counters.counts[name] += count;
  report.counters.pairs = output.pairs();
  return report;
}

inline Partitioner partitioner_of(const WorkOrder& order) {
  return order.bounds.empty() ? Partitioner(order.partitions) : Partitioner(order.bounds);
}

template <class Job>
WorkReport map_task(const Job& job, const WorkOrder& order, const TaskContext& context) {
  using Value = typename TypesOf<Job>::Value;
  const auto combined = Combines<Job> ? std::optional<std::size_t>(value_bytes(Value{}).size()) : std::nullopt;
  MapOutput output(partitioner_of(order), context.memory, combined, context.new_file);
  WorkReport report = map_with(job, output, order, context);
  report.runs = output.finish();
  count_runs(report.runs, report.counters);
  return report;
}

template <class Job>
WorkReport sample_task(const Job& job, const WorkOrder& order, const TaskContext& context) {
  MapOutput output(Partitioner(1), context.memory, std::nullopt, context.new_file);
  WorkReport report = map_with(job, output, order, context);
  report.sample = output.keys();
  return report;
}

template <class Job, class Key, class Value>
void reduce_group(Job& job, const Key& key, Values<Value>& values, Output& out) {
  if constexpr (Reduces<Job>) {
    job.reduce(key, values, out);
  } else {
    static_assert(Combines<Job>,
                  "lp: a job needs reduce, or combine: then each key is written with its combined value");
    Value sum{};
    values.next(sum);
    for (const Value& one : values) job.combine(sum, one);
    out.line(key, '\t', sum);
  }
}

template <class Job>
WorkReport reduce_task(const Job& whole, const WorkOrder& order, const TaskContext& context, FileWriter& file) {
  using Types = TypesOf<Job>;
  constexpr std::uint64_t kCheckEvery = 1 << 6;  // keys
  WorkReport report{.plan = order.plan, .kind = order.kind, .task = order.task};
  JobCopy<Job> copy(whole);
  FailedRecords failed(order.may_skip);
  Groups groups(merge_inputs(order, context));
  Output out(file);
  const auto reduce = [&](Groups& all) {
    Values<typename Types::Value> values(all);
    copy.call([&](Job& job) { reduce_group(job, key_of<typename Types::Key>(all.key()), values, out); });
  };
  while (groups.next()) {
    if (++report.counters.groups % kCheckEvery == 0) context.check();
    if (!order.skip.empty() && !bad_in(order.skip, groups.key()).empty()) {
      ++report.counters.skipped;
      continue;
    }
    context.note.set_place(groups.key());
    context.note.set_offset(0);
    try {
      reduce(groups);
    } catch (...) {
      failed.add_key(groups.key(), [&] {
        Groups again(merge_inputs(order, context));
        while (again.next() && again.key() != groups.key()) {
        }
        reduce(again);
      });
    }
    if (groups.values() > report.heavy.pairs) report.heavy = {.key = quote(groups.key()), .pairs = groups.values()};
  }
  failed.end();
  report.counters.counts = out.counts();
  report.counters.output_bytes = file.size();
  return report;
}

template <class Job>
JobTasks tasks_of(const Job& job) {
  return {
      .csv = TypesOf<Job>::kCsv,
      .sample = [job](const WorkOrder& order, const TaskContext& context) { return sample_task(job, order, context); },
      .map = [job](const WorkOrder& order, const TaskContext& context) { return map_task(job, order, context); },
      .reduce = [job](const WorkOrder& order, const TaskContext& context,
                      FileWriter& file) { return reduce_task(job, order, context, file); }};
}

}  // namespace lp::dataflow

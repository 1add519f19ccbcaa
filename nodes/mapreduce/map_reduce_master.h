#pragma once
// The master of a map-reduce: splits the input into tasks, gives them to workers, and makes the output visible when all
// are done. Map tasks come first, then reduce tasks, whose number is that of the partitions. A task that fails, or
// whose worker is gone, is given to another one; a late one is also given to a second (Dean and Ghemawat: MapReduce,
// OSDI 2004, sections 3.3, 3.6 and 4.6).
//
//     worker/0 ─┬─▶ master
//     worker/1 ─┘
//
// It is in the program's cuts, so a restarted master goes on; the workers are not. A node: run() plans and waits;
// handlers run in its turn.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/interval.h"
#include "lp/base/scheduler.h"
#include "lp/checkpoint/checkpoint.h"
#include "lp/program/context.h"
#include "lp/rpc/clients.h"
#include "lp/rpc/core/future.h"
#include "lp/rpc/core/method.h"
#include "nodes/mapreduce/input_locations.h"
#include "nodes/mapreduce/job_output.h"
#include "nodes/mapreduce/map_reduce_member.h"
#include "nodes/mapreduce/map_reduce_options.h"
#include "nodes/mapreduce/task_book.h"
#include "nodes/mapreduce/work_messages.h"

namespace lp {

struct MapReduceResult {
  std::uint32_t map_tasks = 0;
  std::uint32_t reduce_tasks = 0;
  std::uint64_t attempts = 0;  // at all tasks, since the master's last start
  std::uint64_t failures = 0;  // attempts that failed
  std::uint64_t backups = 0;
  std::uint64_t lost_outputs = 0;  // map tasks that were done again, because their sorted runs were gone
  double seconds = 0;              // since the master's last start
  MapReduceCounters counters{};
  std::string skew{};  // names a key that has half of all pairs that were shuffled, or more
};

class MapReduceMaster {
 public:
  static constexpr Interval kLongestWait = 1440_min;  // a call for work waits for others, or for a restart

  MapReduceMaster(Context& node, Clients<MapReduceMember> workers, MapReduceOptions options);

  // Works until the output is there. The program fails when the output exists, or another run makes it, when an input
  // cannot be read, or when a task has failed too often.
  void run(Context& node);

  // Takes the report on a worker's last task, if any, and gives it another one, as soon as there is one.
  Future<dataflow::WorkOrder> work(std::uint32_t worker, dataflow::WorkReport report);

  // The workers whose hosts have this input, as far as the master knows.
  std::vector<std::uint32_t> holders(const std::string& path) const { return locations_.holders(path); }

  MapReduceResult result() const;

  void save(Checkpoint& out) const;
  void load(const Checkpoint& in);

  using Remote = Methods<deadline<idempotent<&MapReduceMaster::work>, kLongestWait>, &MapReduceMaster::holders,
                         &MapReduceMaster::result>;

 private:
  // What a cut keeps.
  struct Plan {
    std::uint64_t number = 0;  // 0: there is none yet
    std::vector<InputTask> maps{};
    std::vector<InputTask> samples{};
    std::vector<std::string> bounds{};
    bool sampled = false;  // or nothing is to be sampled
  };
  struct MapDone {
    bool done = false;
    std::uint32_t worker = 0;
    std::vector<dataflow::SortedRun> runs{};
    MapReduceCounters counters{};
  };
  struct Rest {
    Duration at_most{};
    Future<void> news;  // ready when it is over
  };
  struct ReduceDone {
    bool done = false;
    dataflow::HeavyKey heavy{};
    MapReduceCounters counters{};
  };

  void begin();
  void remember_output() const;
  static dataflow::InputLocations find_inputs(const Clients<MapReduceMember>& workers);
  void find_place(std::uint32_t worker);
  Plan make_plan(const dataflow::InputLocations& locations, const Clients<MapReduceMember>& workers) const;
  void install(Plan plan);
  void begin_books();
  std::uint32_t partitions() const;
  bool complete() const { return plan_.number != 0 && plan_.sampled && maps_.complete() && reduces_.complete(); }
  void watch_workers();
  void log_ends() const;
  std::optional<Rest> supervise();
  void notify();
  void serve_waiting();
  std::optional<dataflow::WorkOrder> order_for(std::uint32_t worker);
  std::optional<dataflow::WorkOrder> sample_order(std::uint32_t worker);
  std::optional<dataflow::WorkOrder> map_order(std::uint32_t worker);
  std::optional<dataflow::WorkOrder> reduce_order(std::uint32_t worker);
  void take(std::uint32_t worker, dataflow::WorkReport report);
  void take_failure(std::uint32_t worker, const dataflow::WorkReport& report);
  bool died_before(const dataflow::WorkReport& report);
  bool skip(const dataflow::WorkReport& report);
  std::uint64_t may_skip() const;
  void take_sample(std::uint32_t worker, dataflow::WorkReport report);
  void take_map(std::uint32_t worker, dataflow::WorkReport report);
  void take_reduce(std::uint32_t worker, dataflow::WorkReport report);
  void fail_job(const std::string& text);
  void cut();
  void settle();
  std::string skew() const;

  Context& context_;
  Clients<MapReduceMember> workers_;
  const MapReduceOptions options_;
  const Time begun_;
  dataflow::JobOutput output_;

  Plan plan_{};
  std::vector<MapDone> map_done_{};
  std::vector<ReduceDone> reduce_done_{};
  std::vector<dataflow::BadRecord> skip_records_{};  // sorted, as the keys
  std::vector<dataflow::BadRecord> skip_keys_{};
  std::uint64_t cuts_ = 0;

  dataflow::InputLocations locations_{};
  std::map<dataflow::BadRecord, int> deaths_{};  // ended workers, by the record or key
  dataflow::TaskBook samples_{0};
  std::vector<std::string> sampled_keys_{};
  dataflow::TaskBook maps_{0};
  dataflow::TaskBook reduces_{0};
  std::uint64_t failures_ = 0;
  std::uint64_t lost_ = 0;
  Time next_cut_{};
  std::map<std::uint32_t, Promise<dataflow::WorkOrder>> waiting_{};  // by worker
  bool over_ = false;
  bool told_ = false;  // the job is complete, or has failed
  std::optional<Error> failure_{};
  std::optional<Promise<void>> news_{};  // for run(), while it waits
};

}  // namespace lp

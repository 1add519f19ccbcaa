#include "nodes/mapreduce/map_reduce_master.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/text.h"
#include "nodes/mapreduce/failed_records.h"
#include "nodes/mapreduce/task_note.h"

namespace lp {

using dataflow::TaskKind;
using dataflow::WorkOrder;
using dataflow::WorkReport;

namespace {
constexpr Duration kBetweenCuts = std::chrono::milliseconds(500);
constexpr std::size_t kComparedReduces = 64;  // so that giving thousands of tasks does not take longer than doing them
}  // namespace

MapReduceMaster::MapReduceMaster(Context& node, Clients<MapReduceMember> workers, MapReduceOptions options)
    : context_(node),
      workers_(std::move(workers)),
      options_(std::move(options)),
      begun_(now()),
      output_(options_, node.run_name(), node.incarnation() > 1) {
  watch_workers();
}

void MapReduceMaster::watch_workers() {
  workers_ = workers_.latest();
  std::set<std::uint32_t> there;
  for (std::size_t i = 0; i < workers_.size(); ++i) there.insert(static_cast<std::uint32_t>(workers_.replica(i)));
  for (dataflow::TaskBook* const book : {&samples_, &maps_, &reduces_}) {
    for (const std::uint32_t worker : book->busy()) {
      if (!there.contains(worker)) book->take_back(worker);
    }
  }
  std::erase_if(waiting_, [&](const auto& one) { return !there.contains(one.first); });
  serve_waiting();
  const Future<void> watched = workers_.change().then([this](Future<void> change) {
    change.get();  // throws when the run ends
    watch_workers();
  });
}

// Asks all workers which inputs their hosts have. A worker that is gone has none.
dataflow::InputLocations MapReduceMaster::find_inputs(const Clients<MapReduceMember>& workers) {
  dataflow::InputLocations locations;
  const auto found = workers.outcomes<&MapReduceMember::find_inputs>();
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i]) locations.set(static_cast<std::uint32_t>(workers.replica(i)), found[i].value());
  }
  return locations;
}

// A worker that was started again may be on another host.
void MapReduceMaster::find_place(std::uint32_t worker) {
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (static_cast<std::uint32_t>(workers_.replica(i)) != worker) continue;
    const Future<void> kept =
        workers_[i].async<&MapReduceMember::find_inputs>().then([this, worker](Future<FoundInputs> found) {
          locations_.set(worker, found.get());  // throws when the worker is gone, and its place is unknown
        });
  }
}

MapReduceMaster::Plan MapReduceMaster::make_plan(const dataflow::InputLocations& locations,
                                                 const Clients<MapReduceMember>& workers) const {
  const auto holders = [&](const std::string& path) {
    std::vector<Client<MapReduceMember>> out;
    for (std::size_t i = 0; i < workers.size(); ++i) {
      if (locations.has(static_cast<std::uint32_t>(workers.replica(i)), path)) out.push_back(workers[i]);
    }
    return out;
  };
  const auto open = [&](const std::string& path) { return dataflow::open_anywhere(path, holders); };
  const auto together = [&](const std::string& one, const std::string& other) {
    return locations.are_together(one, other);
  };
  const std::vector<std::string> files = locations.all_files(find_inputs_here(options_.input.paths));
  Plan plan{.number = static_cast<std::uint64_t>(wall_clock()),
            .maps = split_files(files, options_.input, open, together)};
  if (options_.partitioning == Partitioning::range && options_.partitions > 1) {
    plan.samples = sample_files(files, options_.input, open);
  }
  plan.sampled = plan.samples.empty();
  return plan;
}

void MapReduceMaster::install(Plan plan) {
  plan_ = std::move(plan);
  map_done_.resize(plan_.maps.size());
  if (plan_.sampled) reduce_done_.resize(partitions());
  begin_books();
}

std::uint32_t MapReduceMaster::partitions() const {
  if (options_.partitioning == Partitioning::hash) return options_.partitions;
  return static_cast<std::uint32_t>(plan_.bounds.size() + 1);
}

void MapReduceMaster::begin_books() {
  if (!plan_.sampled) samples_ = dataflow::TaskBook(plan_.samples.size(), options_.backups);
  maps_ = dataflow::TaskBook(map_done_.size(), options_.backups);
  reduces_ = dataflow::TaskBook(reduce_done_.size(), options_.backups);
  for (std::uint32_t i = 0; i < map_done_.size(); ++i) {
    if (map_done_[i].done) maps_.done(i, 0);
  }
  for (std::uint32_t i = 0; i < reduce_done_.size(); ++i) {
    if (reduce_done_[i].done) reduces_.done(i, 0);
  }
}

// Plans the tasks, unless a cut has them.
void MapReduceMaster::begin() {
  const bool goes_on = plan_.number != 0;
  if (!goes_on) {
    output_.begin();
    remember_output();
  }
  const auto workers = context_.exclusive([this] { return workers_.latest(); });
  dataflow::InputLocations locations = find_inputs(workers);
  std::optional<Plan> plan;
  if (!goes_on) plan = make_plan(locations, workers);
  context_.exclusive([&] {
    locations_ = std::move(locations);
    if (plan) {
      install(std::move(*plan));
      cut();
    }
    settle();
  });
}

// OUTPUT.partial has the parts that a cut names. So it stays for a run that resumes this one, and `lp rm` removes it.
void MapReduceMaster::remember_output() const {
  if (output_.claimed()) context_.scratch(options_.partial(), ScratchLife::cuts);
}

// A worker that is not restarted may have ended without a word: by _Exit() or SIGKILL, for instance.
void MapReduceMaster::log_ends() const {
  const MapReduceOptions options = options_.in_run(context_);
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const auto worker = static_cast<std::uint32_t>(workers_.replica(i));
    const auto last = dataflow::TaskNote::read_of_dead(options.note_file(context_.run_name(), worker));
    if (last) log_line("the process of worker/" + std::to_string(worker) + " ended in " + last->text());
  }
}

void MapReduceMaster::run(Context& node) {
  try {
    begin();
    while (std::optional<Rest> rest = node.exclusive([this] { return supervise(); })) {
      static_cast<void>(rest->news.get_for(rest->at_most));
    }
    if (failure_) throw Error(*failure_);
    output_.publish();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::stopped) log_ends();
    if (error.kind() != ErrorKind::failed) throw;
    output_.remove();
    return node.fail_program(error.text());
  }
  node.exclusive([this] {
    over_ = true;
    serve_waiting();
  });
}

// Gives late tasks to idle workers. Returns until when it need not be called again; nothing when the job is over.
std::optional<MapReduceMaster::Rest> MapReduceMaster::supervise() {
  serve_waiting();
  if (told_) return std::nullopt;
  constexpr Duration kLongest = std::chrono::seconds(60);
  Duration late = kLongest;
  if (!waiting_.empty()) late = std::min({samples_.until_late(), maps_.until_late(), reduces_.until_late()});
  news_.emplace();
  return Rest{.at_most = std::clamp<Duration>(late, std::chrono::milliseconds(20), kLongest), .news = news_->future()};
}

void MapReduceMaster::notify() {
  if (std::optional<Promise<void>> news = std::exchange(news_, std::nullopt)) news->set_value();
}

Future<WorkOrder> MapReduceMaster::work(std::uint32_t worker, WorkReport report) {
  if (report.kind == TaskKind::none && plan_.number != 0) find_place(worker);
  take(worker, std::move(report));
  for (dataflow::TaskBook* const book : {&samples_, &maps_, &reduces_}) book->take_back(worker);  // it has lost them
  if (const auto before = waiting_.find(worker); before != waiting_.end()) before->second.set_value({});
  Promise<WorkOrder>& promise = waiting_[worker] = {};
  Future<WorkOrder> order = promise.future();
  serve_waiting();
  if (!waiting_.empty()) notify();  // somebody is idle, and now perhaps it is known when a task is late
  return order;
}

void MapReduceMaster::serve_waiting() {
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    std::optional<WorkOrder> order = order_for(at->first);
    if (order) {
      order->plan = plan_.number;
      at->second.set_value(std::move(*order));
      at = waiting_.erase(at);
    } else {
      ++at;
    }
  }
}

std::optional<WorkOrder> MapReduceMaster::order_for(std::uint32_t worker) {
  if (over_) return WorkOrder{.kind = TaskKind::over};
  if (plan_.number == 0 || told_) return std::nullopt;
  if (!plan_.sampled) return sample_order(worker);
  return maps_.complete() ? reduce_order(worker) : map_order(worker);
}

std::optional<WorkOrder> MapReduceMaster::sample_order(std::uint32_t worker) {
  const auto task = samples_.give(worker, {});
  if (!task) return std::nullopt;
  const InputTask& input = plan_.samples[*task];
  return WorkOrder{.kind = TaskKind::sample,
                   .task = *task,
                   .input = input,
                   .skip = dataflow::bad_in(skip_records_, input),
                   .may_skip = may_skip()};
}

std::optional<WorkOrder> MapReduceMaster::map_order(std::uint32_t worker) {
  const auto is_here = [this, worker](std::uint32_t task) {
    return std::uint64_t{locations_.has(worker, plan_.maps[task].splits.front().path)};
  };
  const auto task = maps_.give(worker, locations_.differ() ? is_here : dataflow::TaskBook::Preference());
  if (!task) return std::nullopt;
  return WorkOrder{.kind = TaskKind::map,
                   .task = *task,
                   .partitions = partitions(),
                   .input = plan_.maps[*task],
                   .bounds = plan_.bounds,
                   .skip = dataflow::bad_in(skip_records_, plan_.maps[*task]),
                   .may_skip = may_skip()};
}

std::optional<WorkOrder> MapReduceMaster::reduce_order(std::uint32_t worker) {
  const auto bytes_here = [this, worker](std::uint32_t task) {
    std::uint64_t bytes = 0;
    for (const MapDone& one : map_done_) {
      if (one.worker != worker) continue;
      for (const dataflow::SortedRun& run : one.runs) bytes += run.segments[task].bytes;
    }
    return bytes;
  };
  const auto task = reduces_.give(worker, bytes_here, kComparedReduces);
  if (!task) return std::nullopt;
  WorkOrder order{
      .kind = TaskKind::reduce, .task = *task, .partitions = partitions(), .skip = skip_keys_, .may_skip = may_skip()};
  for (std::uint32_t i = 0; i < map_done_.size(); ++i) {
    for (const dataflow::SortedRun& run : map_done_[i].runs) {
      order.runs.push_back(
          {.map_task = i, .worker = map_done_[i].worker, .path = run.path, .segment = run.segments[*task]});
    }
  }
  return order;
}

void MapReduceMaster::take(std::uint32_t worker, WorkReport report) {
  if (report.kind == TaskKind::none || report.plan != plan_.number || told_) return;
  if (report.kind == TaskKind::sample && plan_.sampled) return;
  if (report.failed()) return take_failure(worker, report);
  switch (report.kind) {
    case TaskKind::sample: take_sample(worker, std::move(report)); break;
    case TaskKind::map: take_map(worker, std::move(report)); break;
    case TaskKind::reduce: take_reduce(worker, std::move(report)); break;
    default: return;
  }
  if (passed(next_cut_) || complete()) cut();
  settle();
}

// The bounds are known when all samples are there.
void MapReduceMaster::take_sample(std::uint32_t worker, WorkReport report) {
  if (!samples_.done(report.task, worker)) return;
  std::move(report.sample.begin(), report.sample.end(), std::back_inserter(sampled_keys_));
  if (!samples_.complete()) return;
  std::sort(sampled_keys_.begin(), sampled_keys_.end());
  plan_.bounds = dataflow::bounds_of(std::exchange(sampled_keys_, {}), options_.partitions);
  plan_.sampled = true;
  reduce_done_.resize(partitions());
  begin_books();
}

void MapReduceMaster::take_map(std::uint32_t worker, WorkReport report) {
  if (!maps_.done(report.task, worker)) return;
  map_done_[report.task] = {
      .done = true, .worker = worker, .runs = std::move(report.runs), .counters = std::move(report.counters)};
}

void MapReduceMaster::take_reduce(std::uint32_t worker, WorkReport report) {
  if (!reduces_.done(report.task, worker)) return;
  reduce_done_[report.task] = {.done = true, .heavy = std::move(report.heavy), .counters = std::move(report.counters)};
}

void MapReduceMaster::take_failure(std::uint32_t worker, const WorkReport& report) {
  dataflow::TaskBook& book = report.kind == TaskKind::reduce ? reduces_
                             : report.kind == TaskKind::map  ? maps_
                                                             : samples_;
  if (book.is_done(report.task)) return book.take_back(report.task, worker);
  if (!report.lost.empty()) {
    book.take_back(report.task, worker);
    for (const std::uint32_t task : report.lost) {
      if (!maps_.is_done(task)) continue;
      maps_.undo(task);
      map_done_[task] = {};
      ++lost_;
    }
    return;
  }
  ++failures_;
  if (report.hopeless) {
    return fail_job("a task failed in worker/" + std::to_string(worker) + ": " + report.failure);
  }
  if (report.died) book.forbid_copies(report.task);
  if (report.died && !died_before(report)) {
    book.take_back(report.task, worker);
  } else if (!report.bad.empty() && options_.skip_records > 0) {
    book.take_back(report.task, worker);
    if (!skip(report)) {
      fail_job("there are more than " + std::to_string(options_.skip_records) +
               " bad records; the last one: " + report.failure);
    }
  } else if (report.died) {
    fail_job(report.failure + ", as did one before it: repair the job, or let such records be skipped");
  } else if (report.repeats) {
    fail_job("a task failed twice in worker/" + std::to_string(worker) + ": " + report.failure);
  } else if (const std::uint32_t failures = book.fail(report.task, worker); failures >= options_.attempts) {
    fail_job("a task failed " + std::to_string(failures) + " times, the last time in worker/" + std::to_string(worker) +
             ": " + report.failure);
  }
}

// A process that ends for the first time on a record may have been killed by somebody else.
bool MapReduceMaster::died_before(const WorkReport& report) {
  return ++deaths_[report.bad.front()] >= MapReduceOptions::kDeathsOfABadRecord;
}

std::uint64_t MapReduceMaster::may_skip() const {
  const std::uint64_t skipped = skip_records_.size() + skip_keys_.size();
  return options_.skip_records - std::min(skipped, options_.skip_records);
}

// Lets later attempts skip the bad records. Returns false when there are too many.
bool MapReduceMaster::skip(const WorkReport& report) {
  dataflow::add_sorted(report.kind == TaskKind::reduce ? skip_keys_ : skip_records_, report.bad);
  return skip_records_.size() + skip_keys_.size() <= options_.skip_records;
}

void MapReduceMaster::fail_job(const std::string& text) {
  if (std::exchange(told_, true)) return;
  failure_.emplace(ErrorKind::failed, text);
  notify();
}

void MapReduceMaster::cut() {
  next_cut_ = after(kBetweenCuts);
  context_.checkpoint(++cuts_);
}

// Shows the progress, and lets run() go on when all is done.
void MapReduceMaster::settle() {
  const std::size_t done = maps_.done_count() + reduces_.done_count();
  context_.report({.step = done,
                   .total = maps_.tasks() + options_.partitions,
                   .values = {{"map", static_cast<double>(maps_.done_count())},
                              {"reduce", static_cast<double>(reduces_.done_count())}}});
  if (complete() && !std::exchange(told_, true)) notify();
}

MapReduceResult MapReduceMaster::result() const {
  MapReduceResult out{.map_tasks = static_cast<std::uint32_t>(map_done_.size()),
                      .reduce_tasks = static_cast<std::uint32_t>(reduce_done_.size()),
                      .attempts = samples_.attempts() + maps_.attempts() + reduces_.attempts(),
                      .failures = failures_,
                      .backups = samples_.backups() + maps_.backups() + reduces_.backups(),
                      .lost_outputs = lost_,
                      .seconds = to_seconds(now() - begun_)};
  for (const MapDone& one : map_done_) out.counters.add(one.counters);
  for (const ReduceDone& one : reduce_done_) out.counters.add(one.counters);
  out.skew = skew();
  return out;
}

std::string MapReduceMaster::skew() const {
  constexpr std::uint64_t kLeast = 1000;  // pairs: with fewer, it costs nothing
  std::uint64_t all = 0;
  for (const MapDone& one : map_done_) all += one.counters.shuffled_pairs;
  for (const ReduceDone& one : reduce_done_) {
    if (all < kLeast || 2 * one.heavy.pairs < all) continue;
    return "the key " + one.heavy.key + " has " + std::to_string(one.heavy.pairs * 100 / all) + "% of the " +
           std::to_string(all) + " pairs that were shuffled, and one reducer reads them all: combine its values, or " +
           "make several keys of it";
  }
  return {};
}

void MapReduceMaster::save(Checkpoint& out) const {
  out.put("plan", plan_);
  out.put("map_done", map_done_);
  out.put("reduce_done", reduce_done_);
  out.put("skip_records", skip_records_);
  out.put("skip_keys", skip_keys_);
  out.put("cuts", cuts_);
}

void MapReduceMaster::load(const Checkpoint& in) {
  plan_ = in.get<Plan>("plan");
  map_done_ = in.get<std::vector<MapDone>>("map_done");
  reduce_done_ = in.get<std::vector<ReduceDone>>("reduce_done");
  skip_records_ = in.get<std::vector<dataflow::BadRecord>>("skip_records");
  skip_keys_ = in.get<std::vector<dataflow::BadRecord>>("skip_keys");
  cuts_ = in.get<std::uint64_t>("cuts");
  begin_books();
  output_.go_on(complete());
  remember_output();
  if (output_.published()) return;
  for (std::uint32_t i = 0; i < reduce_done_.size(); ++i) {
    if (!output_.has_part(i)) reduce_done_[i] = {};
  }
  begin_books();
}

}  // namespace lp

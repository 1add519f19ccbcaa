#include "nodes/mapreduce/map_reduce_worker.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <system_error>
#include <utility>

#include "lp/base/error.h"
#include "nodes/dataflow/file_window.h"
#include "nodes/dataflow/record_reader.h"

namespace lp {

namespace fs = std::filesystem;
using dataflow::ReduceInput;
using dataflow::TaskKind;
using dataflow::WorkOrder;
using dataflow::WorkReport;

namespace {

using dataflow::kCallBytes;

std::string name_of(Context& node) {
  std::string name = node.name();
  std::replace(name.begin(), name.end(), '/', '-');
  return name + "-" + std::to_string(node.incarnation()) + "-" + std::to_string(wall_clock());
}

// A restart would not make the directory for sorted runs either.
MapReduceOptions in_run_of(const MapReduceOptions& options, Context& node) try {
  return options.in_run(node);
} catch (const Error& error) {
  node.fail_program(error.text());
  throw;
}

class RemoteSegment final : public dataflow::SegmentSource {
 public:
  RemoteSegment(Client<MapReduceWorker> worker, ReduceInput input)
      : worker_(std::move(worker)), input_(std::move(input)) {}

  std::size_t read(std::uint64_t offset, std::span<char> into) override {
    const std::uint64_t wanted = std::min<std::uint64_t>({into.size(), kCallBytes, input_.segment.bytes - offset});
    try {
      const Array<std::byte> bytes =
          worker_.call<&MapReduceWorker::read_run>(input_.path, input_.segment.offset + offset, wanted);
      if (bytes.empty() || bytes.size() > into.size()) throw Error(ErrorKind::failed, input_.path + " has changed");
      std::memcpy(into.data(), bytes.data(), bytes.size());
      return bytes.size();
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::stopped) throw;
      throw dataflow::LostRunError(input_.map_task, error.what());
    }
  }

 private:
  const Client<MapReduceWorker> worker_;
  const ReduceInput input_;
};

// Removes a file unless it is kept.
class Attempt {
 public:
  explicit Attempt(std::string path) : file_(std::move(path)) {}
  ~Attempt() {
    std::error_code ignored;
    if (closed_) fs::remove(file_.path(), ignored);
  }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;
  dataflow::FileWriter& file() { return file_; }
  void commit(const fs::path& to, bool durable) {
    file_.close(durable);
    closed_ = true;
    std::error_code error;
    fs::rename(file_.path(), to, error);
    if (error) throw Error(ErrorKind::failed, to.string() + " cannot be written: " + error.message());
    closed_ = false;
  }

 private:
  dataflow::FileWriter file_;
  bool closed_ = false;  // the file exists, and is not committed
};

}  // namespace

MapReduceWorker::MapReduceWorker(Context& node, Client<MapReduceMaster> master, Clients<MapReduceWorker> workers,
                                 dataflow::JobTasks tasks, const MapReduceOptions& options)
    : context_(node),
      master_(std::move(master)),
      workers_(std::move(workers)),
      tasks_(std::move(tasks)),
      options_(in_run_of(options, node)),
      own_(name_of(node)) {}

void MapReduceWorker::run(Context& node) {
  const auto remove = [](const MapReduceWorker* worker) { worker->remove_scratch(); };
  const std::unique_ptr<const MapReduceWorker, decltype(remove)> at_end(this, remove);
  const auto index = static_cast<std::uint32_t>(node.index());
  WorkReport report = last_words();
  while (!node.stopping()) {
    const WorkOrder order = master_.call<&MapReduceMaster::work>(index, std::exchange(report, {}));
    if (order.kind == TaskKind::over) return;
    claim_ = dataflow::OutputClaim::share(options_.partial());
    if (order.kind != TaskKind::none) report = done(order);
  }
}

// On which record or key the process before this one has ended, if it was in a function of the job.
WorkReport MapReduceWorker::last_words() const {
  const std::optional<dataflow::TaskNote::LastPosition> last = dataflow::TaskNote::read(note_file());
  if (!last) return {};
  std::error_code ignored;
  fs::remove(note_file(), ignored);
  return {.plan = last->plan,
          .kind = last->kind,
          .task = last->task,
          .failure = "the process of " + context_.name() + " ended in " + last->text(),
          .bad = {last->record},
          .died = true};
}

WorkReport MapReduceWorker::done(const WorkOrder& order) {
  if (!note_) {
    make_run_directory();
    note_.emplace(note_file());
  }
  note_->begin(order);
  struct End {
    dataflow::TaskNote& note;
    ~End() { note.end(); }
  } end{*note_};
  return attempt(order);
}

WorkReport MapReduceWorker::attempt(const WorkOrder& order) {
  WorkReport failed{.plan = order.plan, .kind = order.kind, .task = order.task};
  try {
    switch (order.kind) {
      case TaskKind::sample: return tasks_.sample(order, task_context());
      case TaskKind::map: return tasks_.map(order, task_context());
      default: return reduce(order);
    }
  } catch (const dataflow::LostRunError& error) {
    failed.lost = lost_with(order, error.map_task());
    failed.failure = error.text();
  } catch (const dataflow::BadRecordError& error) {
    failed.bad = error.bad();
    failed.repeats = error.repeats();
    failed.failure = error.text();
  } catch (const dataflow::UnclosedQuoteError& error) {
    failed.hopeless = true;
    failed.failure = error.text();
  } catch (...) {
    const Error error = as_error(std::current_exception());
    if (error.kind() == ErrorKind::stopped) throw;
    failed.failure = error.what();
  }
  return failed;
}

WorkReport MapReduceWorker::reduce(const WorkOrder& order) {
  const std::string file = "reduce-" + std::to_string(order.task) + "-" + own_ + "-" + std::to_string(++files_);
  Attempt attempt((options_.attempt_files() / file).string());
  WorkReport report = tasks_.reduce(order, task_context(), attempt.file());
  report.counters.output_bytes = attempt.file().size();
  attempt.commit(options_.parts() / MapReduceOptions::part_name(order.task), options_.durable);
  return report;
}

dataflow::TaskContext MapReduceWorker::task_context() {
  return {.note = *note_,
          .memory = static_cast<std::size_t>(options_.pair_memory()),
          .input = options_.input,
          .open_input =
              [this](const std::string& path) {
                return dataflow::open_anywhere(path, [this](const std::string& file) { return holders(file); });
              },
          .new_file = [this] { return new_file(); },
          .check =
              [this] {
                if (context_.stopping()) throw Error(ErrorKind::stopped, "the node stops");
              },
          .open = [this](const ReduceInput& input) { return open(input); }};
}

fs::path MapReduceWorker::note_file() const {
  return options_.note_file(context_.run_name(), static_cast<std::uint32_t>(context_.index()));
}

// Returns the reason when it cannot be made.
std::error_code MapReduceWorker::make_run_directory() const {
  std::error_code error;
  if (options_.scratch.empty()) {
    fs::create_directory(options_.run_files(), error);  // not what is above it: the master may have removed that
  } else {
    fs::create_directories(options_.run_files(), error);
  }
  return error;
}

std::string MapReduceWorker::new_file() {
  const fs::path directory = options_.run_files();
  if (const std::error_code error = make_run_directory()) {
    throw Error(ErrorKind::failed, directory.string() + " cannot be made: " + error.message());
  }
  return (directory / run_name(++files_)).string();
}

// The master removes the files beside the output; those in a directory of the user are removed by their worker.
void MapReduceWorker::remove_scratch() const noexcept {
  if (options_.scratch.empty()) return;
  std::error_code error;
  for (std::uint64_t i = 1; i <= files_; ++i) fs::remove(options_.scratch / run_name(i), error);
  fs::remove(note_file(), error);
  fs::remove(options_.scratch, error);  // by the last worker of the host
}

std::optional<Client<MapReduceWorker>> MapReduceWorker::other(std::uint32_t worker) const {
  if (worker == static_cast<std::uint32_t>(context_.index())) return std::nullopt;
  const Clients<MapReduceWorker> now = workers_.latest();
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (static_cast<std::uint32_t>(now.replica(i)) == worker) return now[i];
  }
  return std::nullopt;
}

std::unique_ptr<dataflow::SegmentSource> MapReduceWorker::open(const ReduceInput& input) {
  std::error_code error;
  if (fs::exists(input.path, error)) return dataflow::file_segment(input.path, input.segment);
  if (const auto worker = other(input.worker)) return remote_segment(*worker, input);
  throw dataflow::LostRunError(input.map_task,
                               input.path + " is gone, and so is worker/" + std::to_string(input.worker));
}

// The map tasks of the same worker whose runs are gone, too: they were on the same host.
std::vector<std::uint32_t> MapReduceWorker::lost_with(const WorkOrder& order, std::uint32_t task) const {
  const auto is_its = [task](const ReduceInput& one) { return one.map_task == task; };
  const std::uint32_t worker = std::find_if(order.runs.begin(), order.runs.end(), is_its)->worker;
  std::vector<std::string> missing;
  for (const ReduceInput& one : order.runs) {
    if (one.worker == worker) missing.push_back(one.path);
  }
  missing = missing_runs(missing);
  try {
    if (const auto client = other(worker)) missing = client->call<&MapReduceWorker::missing_runs>(missing);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::stopped) throw;  // else they are gone with their worker
  }
  std::set<std::uint32_t> lost{task};
  for (const ReduceInput& one : order.runs) {
    if (std::find(missing.begin(), missing.end(), one.path) != missing.end()) lost.insert(one.map_task);
  }
  return {lost.begin(), lost.end()};
}

std::vector<std::string> MapReduceWorker::missing_runs(std::vector<std::string> paths) const {
  std::erase_if(paths, [this](const std::string& path) {
    std::error_code error;
    return fs::path(path).parent_path() == options_.run_files() && fs::exists(path, error);
  });
  return paths;
}

std::unique_ptr<dataflow::SegmentSource> remote_segment(Client<MapReduceWorker> worker, ReduceInput input) {
  return std::make_unique<RemoteSegment>(std::move(worker), std::move(input));
}

std::vector<Client<MapReduceMember>> MapReduceWorker::holders(const std::string& path) const {
  const std::vector<std::uint32_t> there = master_.call<&MapReduceMaster::holders>(path);
  const Clients<MapReduceWorker> now = workers_.latest();
  std::vector<Client<MapReduceMember>> out;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const auto worker = static_cast<std::uint32_t>(now.replica(i));
    const bool other = worker != static_cast<std::uint32_t>(context_.index());
    if (other && std::find(there.begin(), there.end(), worker) != there.end()) out.push_back(now[i]);
  }
  return out;
}

FoundInputs MapReduceWorker::find_inputs() const {
  FoundInputs found = find_inputs_here(options_.input.paths);
  std::erase_if(found.files, [](const std::string& path) { return !dataflow::is_readable(path); });
  inputs_ = {found.files.begin(), found.files.end()};
  return found;
}

void MapReduceWorker::check_input(const std::string& path) const {
  if (!inputs_.contains(path)) find_inputs();
  if (!inputs_.contains(path)) throw Error(ErrorKind::failed, path + " is no input that this host has");
}

std::uint64_t MapReduceWorker::input_size(const std::string& path) const {
  check_input(path);
  return dataflow::open_here(path)->size();
}

namespace {

// At most `size` bytes.
Array<std::byte> bytes_of(dataflow::InputSource& file, std::uint64_t offset, std::uint64_t size) {
  auto out = Array<std::byte>::uninitialized(std::min<std::uint64_t>(size, kCallBytes));
  const std::span<std::byte> bytes = out.edit();
  const std::size_t read = file.read_at(offset, {reinterpret_cast<char*>(bytes.data()), bytes.size()});
  if (read == bytes.size()) return out;
  auto fewer = Array<std::byte>::uninitialized(read);
  std::copy_n(bytes.begin(), read, fewer.edit().begin());
  return fewer;
}

}  // namespace

Array<std::byte> MapReduceWorker::read_input(const std::string& path, std::uint64_t offset, std::uint64_t size) const {
  check_input(path);
  return bytes_of(*dataflow::open_here(path), offset, size);
}

Array<std::byte> MapReduceWorker::read_run(const std::string& path, std::uint64_t offset, std::uint64_t size) const {
  const fs::path asked(path);
  if (asked.parent_path() != options_.run_files() || size > kCallBytes) {
    throw Error(ErrorKind::failed, path + " is no run of this worker, or more than " + std::to_string(kCallBytes) +
                                       " bytes of it are asked for");
  }
  Array<std::byte> out = bytes_of(*dataflow::open_here(path), offset, size);
  if (out.size() < size) throw Error(ErrorKind::failed, path + " is shorter than it was written");
  return out;
}

}  // namespace lp

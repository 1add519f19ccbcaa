#include "nodes/mapreduce/map_reduce_worker.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <system_error>
#include <utility>

#include "lp/base/error.h"
#include "nodes/dataflow/file_window.h"

namespace lp {

namespace fs = std::filesystem;
using dataflow::ReduceInput;
using dataflow::TaskKind;
using dataflow::WorkOrder;
using dataflow::WorkReport;

namespace {

constexpr std::size_t kCallBytes = std::size_t{1} << 20;  // the most that a call reads of a run

std::string name_of(Context& node) {
  std::string name = node.name();
  std::replace(name.begin(), name.end(), '/', '-');
  return name + "-" + std::to_string(node.incarnation()) + "-" + std::to_string(wall_clock());
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
                                 dataflow::JobTasks tasks, MapReduceOptions options)
    : context_(node),
      master_(std::move(master)),
      workers_(std::move(workers)),
      tasks_(std::move(tasks)),
      options_(std::move(options)),
      own_(name_of(node)) {}

void MapReduceWorker::run(Context& node) {
  const auto remove = [](const MapReduceWorker* worker) { worker->remove_scratch(); };
  const std::unique_ptr<const MapReduceWorker, decltype(remove)> at_end(this, remove);
  const auto index = static_cast<std::uint32_t>(node.index());
  WorkReport report;
  while (!node.stopping()) {
    const WorkOrder order = master_.call<&MapReduceMaster::work>(index, std::exchange(report, {}));
    if (order.kind == TaskKind::over) return;
    if (order.kind != TaskKind::none) report = done(order);
  }
}

WorkReport MapReduceWorker::done(const WorkOrder& order) {
  WorkReport failed{.plan = order.plan, .kind = order.kind, .task = order.task};
  try {
    switch (order.kind) {
      case TaskKind::sample: return tasks_.sample(order, task_context());
      case TaskKind::map: return tasks_.map(order, task_context());
      default: return reduce(order);
    }
  } catch (const dataflow::LostRunError& error) {
    failed.lost = {error.map_task()};
    failed.failure = error.text();
  } catch (const dataflow::BadRecordError& error) {
    failed.bad = error.bad();
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
  return {.memory = static_cast<std::size_t>(options_.memory - MapReduceOptions::kRuntimeMemory),
          .input = options_.input,
          .new_file = [this] { return new_file(); },
          .check =
              [this] {
                if (context_.stopping()) throw Error(ErrorKind::stopped, "the node stops");
              },
          .open = [this](const ReduceInput& input) { return open(input); }};
}

std::string MapReduceWorker::new_file() {
  const fs::path directory = options_.run_files();
  std::error_code error;
  if (options_.scratch.empty()) {
    fs::create_directory(directory, error);  // not what is above it: the master may have removed that
  } else {
    fs::create_directories(directory, error);
  }
  if (error) throw Error(ErrorKind::failed, directory.string() + " cannot be made: " + error.message());
  return (directory / run_name(++files_)).string();
}

// The master removes the files beside the output; those in a directory of the user are removed by their worker.
void MapReduceWorker::remove_scratch() const noexcept {
  if (options_.scratch.empty()) return;
  std::error_code error;
  for (std::uint64_t i = 1; i <= files_; ++i) fs::remove(options_.scratch / run_name(i), error);
}

std::unique_ptr<dataflow::SegmentSource> MapReduceWorker::open(const ReduceInput& input) {
  std::error_code error;
  if (fs::exists(input.path, error)) return dataflow::file_segment(input.path, input.segment);
  const Clients<MapReduceWorker> now = workers_.latest();
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (static_cast<std::uint32_t>(now.replica(i)) != input.worker ||
        input.worker == static_cast<std::uint32_t>(context_.index()))
      continue;
    return remote_segment(now[i], input);
  }
  throw dataflow::LostRunError(input.map_task,
                               input.path + " is gone, and so is worker/" + std::to_string(input.worker));
}

std::unique_ptr<dataflow::SegmentSource> remote_segment(Client<MapReduceWorker> worker, ReduceInput input) {
  return std::make_unique<RemoteSegment>(std::move(worker), std::move(input));
}

Array<std::byte> MapReduceWorker::read_run(const std::string& path, std::uint64_t offset, std::uint64_t size) const {
  const fs::path asked(path);
  if (asked.parent_path() != options_.run_files() || size > kCallBytes) {
    throw Error(ErrorKind::failed, path + " is no run of this worker, or more than " + std::to_string(kCallBytes) +
                                       " bytes of it are asked for");
  }
  auto out = Array<std::byte>::uninitialized(size);
  const std::span<std::byte> bytes = out.edit();
  const std::size_t read = dataflow::read_at(dataflow::open_to_read(path), path, offset,
                                             {reinterpret_cast<char*>(bytes.data()), bytes.size()});
  if (read < size) throw Error(ErrorKind::failed, path + " is shorter than it was written");
  return out;
}

}  // namespace lp

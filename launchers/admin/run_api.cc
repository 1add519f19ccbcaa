#include "launchers/admin/run_api.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "launchers/record/run_recorder.h"
#include "lp/base/error.h"
#include "lp/base/json.h"
#include "lp/base/json_value.h"
#include "lp/base/text.h"

namespace lp::launch {
namespace {

constexpr std::size_t kLongestPart = std::size_t{1} << 17;  // bytes of a file in one answer
constexpr auto kMeasureTimeout = std::chrono::seconds(1);   // for processes to report what they use

enum class Ask : std::uint8_t { status, follow, measure, stop, restart, file };

struct Request {
  Ask ask = Ask::status;
  std::string reason{};
  std::string by{};
  bool force = false;
  std::string node{};
  std::string name{};
  std::uint64_t from = 0;
};

std::string answer(std::string_view name, std::string_view text) {
  JsonWriter json;
  json.begin_object();
  json.member(name, text);
  json.end_object();
  return std::move(json).text();
}

// Appends the character in UTF-8.
void append_character(std::string& text, unsigned char byte) {
  if (byte >= 0x80) text += static_cast<char>(0xC0 | (byte >> 6));
  text += static_cast<char>(byte < 0x80 ? byte : 0x80 | (byte & 0x3F));
}

}  // namespace

RunApi::RunApi(const std::filesystem::path& directory, const SupervisionGraph& graph, EventLoop& loop,
               Coordinator& coordinator, Function<RunStatus()> status)
    : directory_(std::filesystem::absolute(directory)),
      graph_(graph),
      coordinator_(coordinator),
      status_(std::move(status)),
      server_(directory, loop,
              {.on_line = [this](Client client, std::string_view line) { handle(client, line); },
               .gone = [this](Client client) { forget(client); }}) {}

void RunApi::forget(Client client) {
  followers_.erase(client);
  measurers_.erase(client);
}

void RunApi::publish(std::string_view status) {
  const std::vector<Client> followers(followers_.begin(), followers_.end());  // sending may drop one
  for (const Client client : followers) {
    // A client that has not read the last status gets the next one.
    if (server_.pending(client) == 0) server_.send(client, status);
  }
}

void RunApi::handle(Client client, std::string_view line) {
  Request request;
  try {
    const JsonValue value = JsonValue::parse(line);
    request = from_json<Request>(value);
    if (value.find("ask") == nullptr) throw Error(ErrorKind::failed, "`ask` is missing");
  } catch (const Error& error) {
    return server_.refuse(client, "this is not a request: " + error.text());
  }
  try {
    switch (request.ask) {
      case Ask::follow: followers_.insert(client); [[fallthrough]];
      case Ask::status: return server_.send(client, to_json(status_()));
      case Ask::measure: return measure(client);
      case Ask::stop: return server_.send(client, answer("done", stop(request.reason, request.by, request.force)));
      case Ask::restart: return server_.send(client, answer("done", coordinator_.restart_node(request.node)));
      case Ask::file: return server_.send(client, to_json(part_of(request.name, request.from)));
    }
  } catch (const Error& error) {
    server_.send(client, answer("error", error.text()));
  }
}

FilePart RunApi::part_of(const std::string& name, std::uint64_t from) const {
  const std::filesystem::path path = std::filesystem::path(name).lexically_normal();
  if (path.is_absolute() || path.empty() || *path.begin() == "..") {
    throw Error(ErrorKind::failed, quote(name) + " is not a file of this run");
  }
  const Descriptor file(open((directory_ / path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  FilePart part{.id = status.st_ino};
  std::string bytes(kLongestPart, '\0');
  const ssize_t got = pread(file.number(), bytes.data(), bytes.size(), static_cast<off_t>(from));
  for (ssize_t i = 0; i < got; ++i)
    append_character(part.bytes, static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]));
  return part;
}

std::string RunApi::stop(const std::string& reason, const std::string& given_by, bool force) {
  const bool stops_already = coordinator_.phase() >= Phase::stopping;
  const std::string by = given_by.empty() ? "somebody" : given_by;
  coordinator_.stop(reason.empty() ? by + " stopped it" : reason, by);
  if (force) coordinator_.kill(by);
  if (!stops_already) return force ? "its nodes are killed" : "it stops";
  return (force ? "its nodes are killed; it was stopping already: " : "it was stopping already: ") +
         coordinator_.result().reason;
}

void RunApi::measure(Client client) {
  measurers_.insert(client);
  if (measurers_.size() > 1) return;  // a measurement is on its way, and its answer serves all clients
  measured_.clear();
  for (const std::size_t process : coordinator_.measure()) measured_[process];
  measures_until_ = after(kMeasureTimeout);
  answer_if_complete();
}

void RunApi::on_measured(std::size_t process, Measurement part) {
  if (measurers_.empty()) return;
  Measurement& all = measured_[process];
  if (part.use.has_value()) all.use = part.use;
  if (part.calls.has_value()) all.calls = std::move(part.calls);
  all.left_out += part.left_out;
  answer_if_complete();
}

void RunApi::advance(Time now) {
  if (now >= measures_until_) answer_measurers();
}

void RunApi::answer_if_complete() {
  if (measures_until_ == kNever) return;  // not all processes have been asked yet
  for (const auto& [process, measurement] : measured_) {
    if (!measurement.use.has_value() || !measurement.calls.has_value()) return;
  }
  answer_measurers();
}

void RunApi::answer_measurers() {
  measures_until_ = kNever;
  MeasureRecord record;
  record.time = to_seconds(now().time_since_epoch());
  record.status = status_();
  const ProcessUse own = use_of(getpid());
  const std::string host = host_name();
  record.launcher = {.host = host, .pid = getpid(), .cpu = own.cpu, .memory = own.memory};
  for (auto& [process, measurement] : measured_) {
    MeasureRecord::Process& entry = record.processes.emplace_back();
    for (const NodeId node : graph_.processes[process].nodes) {
      entry.nodes.push_back(graph_.nodes[node].name);
      entry.host = record.status.nodes[node].host.empty() ? host : record.status.nodes[node].host;
      entry.pid = record.status.nodes[node].pid;
      entry.incarnation = record.status.nodes[node].incarnation;
    }
    if (measurement.use.has_value()) {
      entry.cpu = measurement.use->cpu;
      entry.memory = measurement.use->memory;
    }
    if (measurement.calls.has_value()) {
      std::move(measurement.calls->begin(), measurement.calls->end(), std::back_inserter(record.calls));
    }
    record.left_out += measurement.left_out;
  }
  const std::string text = to_json(record);
  for (const Client client : std::exchange(measurers_, {})) server_.send(client, text);
}

}  // namespace lp::launch

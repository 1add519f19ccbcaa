#include "launchers/admin/run_api.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "launchers/observation/waits_of_run.h"
#include "launchers/os/clock_name.h"
#include "launchers/os/stacks.h"
#include "launchers/record/run_recorder.h"
#include "lp/base/error.h"
#include "lp/base/json.h"
#include "lp/base/json_value.h"
#include "lp/base/text.h"

namespace lp::launch {
namespace {

constexpr std::size_t kLongestPart = std::size_t{1} << 17;  // bytes of a file in one answer
constexpr std::size_t kSpansAtOnce = 40000;                 // in the answers of all processes together
constexpr std::size_t kLeastSpans = 50;
constexpr auto kMeasureTimeout = std::chrono::seconds(1);  // for processes to report what they use

enum class Ask : std::uint8_t { status, follow, measure, stop, restart, file, waits, stack, spans };

struct Request {
  Ask ask = Ask::status;
  std::string reason{};
  std::string by{};
  bool force = false;
  std::string node{};
  std::string name{};
  std::uint64_t from = 0;
  double share = 1;
  bool bounded = false;
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
  for (auto& [subject, question] : questions_) question.clients.erase(client);
  if (!recording_.has_value() || recording_->client != client) return;
  recording_.reset();
  coordinator_.record_spans({.ends = true});
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
      case Ask::measure: return ask(client, Inquiry::use);
      case Ask::waits: return ask(client, Inquiry::waits);
      case Ask::spans: return record_spans(client, {.share = request.share, .bounded = request.bounded});
      case Ask::stack:
        if (request.node.empty()) throw Error(ErrorKind::failed, "a request for stacks names a node");
        return ask(client, Inquiry::stacks, request.node);
      case Ask::stop: return server_.send(client, answer("done", stop(request.reason, request.by, request.force)));
      case Ask::restart:
        return server_.send(client, answer("done", coordinator_.restart_node(request.node, request.force)));
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

void RunApi::record_spans(Client client, const Sampling& sampling) {
  if (!(sampling.share >= 0 && sampling.share <= 1)) throw Error(ErrorKind::failed, "a share is between 0 and 1");
  if (recording_.has_value() && recording_->client != client) {
    throw Error(ErrorKind::failed, "the spans of this run are being recorded already: wait until that has ended");
  }
  if (!recording_.has_value()) recording_ = Recording{.client = client, .begin = now()};
  const std::size_t processes = std::max<std::size_t>(graph_.processes.size(), 1);
  recording_->order = {.sampling = sampling, .most = std::clamp(kSpansAtOnce / processes, kLeastSpans, kMostSpans)};
  ask(client, Inquiry::spans);
}

std::vector<std::size_t> RunApi::send_question(Inquiry what, const std::string& node) {
  if (what == Inquiry::spans) {
    recording_->order.sent = now();
    return coordinator_.record_spans(recording_->order);
  }
  return node.empty() ? coordinator_.measure(what) : std::vector{coordinator_.measure(what, node)};
}

void RunApi::ask(Client client, Inquiry what, const std::string& node) {
  Question& question = questions_[{what, node}];
  question.clients.insert(client);
  if (question.clients.size() > 1) return;
  try {
    for (const std::size_t process : send_question(what, node)) question.parts[process];
  } catch (const Error&) {
    questions_.erase({what, node});
    throw;
  }
  if (what == Inquiry::stacks) question.asked = pid_of(question.parts.begin()->first);
  question.until = after(what == Inquiry::stacks ? kStacksLimit : kMeasureTimeout);
  answer_complete();
}

void RunApi::on_measured(std::size_t process, const Measurement& part) {
  if (part.spans.has_value() && recording_.has_value()) {
    recording_->answers.push_back({process, now(), *part.spans});
    recording_->since[process] = now();
    if (part.last_spans) recording_->handed_over.insert(process);
  }
  for (auto& [subject, question] : questions_) {
    const bool being_asked = question.until == kNever && subject.second.empty();  // threads answer at once
    if (!being_asked && !question.parts.contains(process)) continue;
    Measurement& all = question.parts[process];
    if (part.use.has_value()) all.use = part.use;
    if (part.calls.has_value()) all.calls = part.calls;
    if (part.waits.has_value()) all.waits = part.waits;
    if (part.threads.has_value()) all.threads = part.threads;
    if (part.stacks.has_value()) all.stacks = part.stacks;
    if (part.spans.has_value()) all.spans.emplace();
    all.left_out += part.left_out;
  }
  answer_complete();
}

// A process that has ended answers no more.
void RunApi::on_ended(std::size_t process, int pid) {
  if (!recording_.has_value()) return;
  const Time since = std::exchange(recording_->since.try_emplace(process, recording_->begin).first->second, now());
  const bool handed_over = recording_->handed_over.erase(process) > 0;
  if (pid != 0 && !handed_over) {
    recording_->lost.push_back({.nodes = names_of(process),
                                .since = since.time_since_epoch().count(),
                                .ended = now().time_since_epoch().count()});
  }
  const auto question = questions_.find({Inquiry::spans, {}});
  if (question == questions_.end() || !question->second.parts.contains(process)) return;
  question->second.parts[process].spans.emplace();
  answer_complete();
}

std::vector<std::string> RunApi::names_of(std::size_t process) const {
  std::vector<std::string> names;
  for (const NodeId node : graph_.processes[process].nodes) names.push_back(graph_.nodes[node].name);
  return names;
}

void RunApi::finish(Time until) {
  if (recording_.has_value()) server_.send(recording_->client, spans_record({}));
  server_.finish(until);
}

Time RunApi::next() const {
  Time next = kNever;
  for (const auto& [subject, question] : questions_) next = std::min(next, question.until);
  return next;
}

void RunApi::advance(Time) { answer_complete(); }

// Answers the questions that all processes have answered, or whose time is over.
void RunApi::answer_complete() {
  for (auto at = questions_.begin(); at != questions_.end();) {
    const auto& [subject, question] = *at;
    const bool complete = std::all_of(question.parts.begin(), question.parts.end(),
                                      [what = subject.first](const auto& part) { return part.second.answers(what); });
    if (question.until == kNever || (!complete && !passed(question.until))) {
      ++at;
      continue;
    }
    const std::string text = answer_to(subject, question);
    const std::set<Client> clients = question.clients;
    at = questions_.erase(at);
    for (const Client client : clients) server_.send(client, text);
  }
}

std::string RunApi::answer_to(const Subject& subject, const Question& question) {
  switch (subject.first) {
    case Inquiry::use: return use_record(question);
    case Inquiry::waits: return to_json(waits_of_run(graph_, status_(), question.parts));
    case Inquiry::spans: return spans_record(question);
    case Inquiry::moment:
    case Inquiry::stacks: break;
  }
  const std::optional<Stacks>& stacks = question.parts.begin()->second.stacks;
  if (!stacks.has_value()) {
    const bool ended = pid_of(question.parts.begin()->first) != question.asked;
    return answer("error", ended ? "the process of " + subject.second + " has ended meanwhile"
                                 : "the host of " + subject.second + " does not answer");
  }
  return answer(stacks->problem ? "error" : "stack", stacks->text);
}

int RunApi::pid_of(std::size_t process) { return status_().nodes[graph_.processes[process].nodes.front()].pid; }

std::string RunApi::use_record(const Question& question) {
  MeasureRecord record;
  record.time = to_seconds(now().time_since_epoch());
  record.status = status_();
  const ProcessUse own = use_of(getpid());
  const std::string host = host_name();
  record.launcher = {.host = host, .pid = getpid(), .cpu = own.cpu, .memory = own.memory};
  for (const auto& [process, measurement] : question.parts) {
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
      entry.gpus = measurement.use->gpus.uuids;
      entry.gpu_busy = measurement.use->gpus.busy;
      entry.gpu_memory = measurement.use->gpus.memory;
    }
    if (measurement.calls.has_value()) {
      record.calls.insert(record.calls.end(), measurement.calls->begin(), measurement.calls->end());
    }
    record.left_out += measurement.left_out;
  }
  return to_json(record);
}

std::string RunApi::spans_record(const Question& question) {
  SpansRecord record{.clock = clock_name()};
  for (const auto& [process, part] : question.parts) {
    if (part.spans.has_value()) continue;
    for (std::string& name : names_of(process)) record.silent.push_back(std::move(name));
  }
  if (recording_.has_value()) {
    record.most = recording_->order.most;
    record.lost = std::exchange(recording_->lost, {});
    const RunStatus status = status_();
    for (Spans& spans : std::exchange(recording_->answers, {})) {
      const NodeStatus& first = status.nodes[graph_.processes[spans.process].nodes.front()];
      record.processes.push_back({.nodes = names_of(spans.process),
                                  .host = first.host,
                                  .pid = first.pid,
                                  .came = spans.came.time_since_epoch().count(),
                                  .spans = std::move(spans.text)});
    }
  }
  record.time = now().time_since_epoch().count();
  record.wall = wall_clock();
  return to_json(record);
}

}  // namespace lp::launch

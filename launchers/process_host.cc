#include "launchers/process_host.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "launchers/control_generated.h"
#include "launchers/limits.h"
#include "launchers/measurement.h"
#include "launchers/messages.h"
#include "launchers/pidfd.h"
#include "launchers/spawn.h"
#include "lp/base/error.h"
#include "lp/program/runtime.h"

namespace lp::internal {
namespace {

constexpr auto kTimeToEnd = std::chrono::seconds(6);  // of an agent that kills what is left

std::string text_of(const flatbuffers::String* string) { return string == nullptr ? std::string() : string->str(); }

Error error_of(const control::Failed& failed) {
  ErrorOrigin origin{
      .type = text_of(failed.type()), .node = text_of(failed.where()), .method = text_of(failed.method())};
  if (failed.path() != nullptr) {
    for (const auto* node : *failed.path()) origin.path.push_back(node->str());
  }
  origin.may_have_run = failed.may_have_run();
  return Error(
      static_cast<ErrorKind>(std::min<std::uint8_t>(failed.kind(), static_cast<std::uint8_t>(ErrorKind::stopped))),
      text_of(failed.text()), std::move(origin));
}

}  // namespace

ProcessHost::ProcessHost(const Topology& topology, NodeStart start, std::vector<UnitPlace> places, Loop& loop,
                         Output& output)
    : topology_(topology),
      start_(std::move(start)),
      places_(std::move(places)),
      loop_(loop),
      output_(output),
      incarnations_(topology.units.size()),
      keys_(topology.units.size()) {
  check_descriptors(topology.units.size(), raise_descriptor_limit());
  const SocketPair ends = make_socket_pair();
  agent_ = std::make_unique<ControlSocket>(ends.ours, kSmallMessages);
  try {
    agent_pid_ = spawn_agent(ends.theirs, run_mark(start_.run));
  } catch (...) {
    close(ends.theirs);
    throw;
  }
  close(ends.theirs);
}

ProcessHost::~ProcessHost() { end_agent(); }

void ProcessHost::attach(HostEvents& events) {
  events_ = &events;
  loop_.watch(agent_->fd(), [this](Loop::Ready ready) {
    if (ready.writable) agent_->flush();
    if (ready.readable) hear();
    if (agent_ != nullptr) loop_.want_writable(agent_->fd(), agent_->pending() > 0);
  });
}

void ProcessHost::end_agent() {
  if (agent_ != nullptr) {
    loop_.unwatch(agent_->fd());
    agent_.reset();  // which tells it to end everything
  }
  if (agent_pid_ < 0) return;
  if (const int process = pidfd_open(agent_pid_, 0); process >= 0) {
    Poller poller;
    poller.add(process, 0);
    std::array<Poller::Ready, 1> ready;
    if (poller.wait(ready, after(kTimeToEnd)) == 0) pidfd_send_signal(process, SIGKILL, nullptr, 0);
    close(process);
  }
  waitpid(agent_pid_, nullptr, 0);  // fails when somebody else reaps all children of this process
  agent_pid_ = -1;
}

void ProcessHost::send(std::span<const std::uint8_t> bytes) {
  if (agent_ == nullptr) return;
  agent_->send(bytes);
  loop_.want_writable(agent_->fd(), agent_->pending() > 0);
}

template <class Body>
void ProcessHost::tell(std::size_t unit, Body body) {
  send(pack(unit, incarnations_[unit], std::move(body)));
}

void ProcessHost::take_output(bool take) {
  if (take == takes_output_) return;
  takes_output_ = take;
  control::FlowT flow;
  flow.paused = !take;
  send(pack(0, 0, std::move(flow)));
}

std::string ProcessHost::make_key(std::size_t unit) {
  if (start_.outside_key.empty()) return {};
  keys_[unit] = make_curve_keys();
  return keys_[unit].public_key;
}

void ProcessHost::start(std::size_t unit, std::uint32_t incarnation, const std::filesystem::path& cut) {
  incarnations_[unit] = incarnation;
  output_.begin(unit);
  control::StartT start;
  start.fingerprint = start_.fingerprint;
  start.entry = start_.entry;
  start.configuration = start_.configuration;
  start.seed = start_.seed;
  start.run = start_.run;
  start.directory = start_.directory;
  start.token = start_.token;
  start.cut = cut.string();
  start.nodes = topology_.units[unit].nodes;
  start.patient = start_.patient;
  start.serialize = start_.serialize;
  start.deadline = start_.deadline.count();
  start.keep_cuts = start_.keep_cuts;
  start.path = static_cast<std::uint8_t>(start_.path);
  start.shared_memory = start_.shared_memory;
  start.listen = places_[unit].listen;
  start.public_key = std::move(keys_[unit].public_key);
  start.secret_key = std::move(keys_[unit].secret_key);
  start.outside_key = start_.outside_key;
  control::SpawnT spawn;
  spawn.name = topology_.units[unit].name;
  spawn.environment = places_[unit].environment;
  spawn.environment.push_back(run_mark(start_.run));
  spawn.environment.push_back(node_mark(start_.run, unit, incarnation));
  spawn.cores = places_[unit].cores;
  spawn.memory = places_[unit].memory;
  spawn.debugger = places_[unit].debugger;
  spawn.start = pack(unit, incarnation, std::move(start));
  if (spawn.start.size() + kSmallMessages > kLargeMessages) {
    ExitStatus status{.text = "could not be started: its configuration has " +
                              std::to_string(start_.configuration.size()) +
                              " bytes, which is too much; name a file in it instead"};
    loop_.post([this, unit, incarnation, status] { events_->on_exited(unit, incarnation, status); });
    return;
  }
  tell(unit, std::move(spawn));
}

void ProcessHost::update(std::size_t unit, std::span<const PeerState> peers) {
  control::UpdateT update;
  for (const PeerState& peer : peers) {
    auto& entry = update.peers.emplace_back(std::make_unique<control::PeerT>());
    entry->node = peer.node;
    entry->incarnation = peer.incarnation;
    entry->endpoint = peer.endpoint;
    entry->key = peer.key;
    entry->gone = peer.gone;
    entry->text = peer.text;
  }
  tell(unit, std::move(update));
}

void ProcessHost::run(NodeId node) {
  control::RunNodeT run;
  run.node = node;
  tell(topology_.nodes[node].unit, std::move(run));
}

void ProcessHost::stop(std::size_t unit, const std::string& reason) {
  control::StopT stop;
  stop.reason = reason;
  tell(unit, std::move(stop));
}

void ProcessHost::kill(std::size_t unit) { tell(unit, control::KillT()); }

void ProcessHost::probe(NodeId node) {
  control::ProbeT probe;
  probe.node = node;
  tell(topology_.nodes[node].unit, std::move(probe));
}

void ProcessHost::measure(std::span<const std::size_t> units) {
  for (const std::size_t unit : units) tell(unit, control::MeasureT());
}

// The agent does not do what it is told: its children die with it.
void ProcessHost::abandon(const std::string& why) {
  ::kill(agent_pid_, SIGKILL);
  lose(why + ", so its agent was killed");
}

void ProcessHost::lose(const std::string& why) {
  if (agent_ == nullptr) return;
  loop_.unwatch(agent_->fd());
  agent_.reset();
  // The nodes got the parent-death signal; what they started did not.
  kill_marked(run_mark(start_.run));
  events_->on_lost(why);
}

void ProcessHost::hear() {
  std::string fault;
  if (agent_->receive([this](auto bytes) { handle(bytes); }, fault)) return;
  lose(fault.empty() ? "the agent of this host ended (was it killed?), and all its nodes with it"
                     : "the agent of this host was given up: " + fault);
}

void ProcessHost::handle(std::span<const std::uint8_t> bytes) {
  const control::Message* message = unpack(bytes);
  if (message == nullptr || message->unit() >= topology_.units.size()) return;
  const std::size_t unit = message->unit();
  if (const auto* output = message->body_as_Output()) {
    if (output->bytes() != nullptr) {
      output_.take(unit, output->error(),
                   {reinterpret_cast<const char*>(output->bytes()->data()), output->bytes()->size()});
    }
  } else if (const auto* spawned = message->body_as_Spawned()) {
    events_->on_spawned(unit, message->incarnation(), spawned->pid());
  } else if (const auto* used = message->body_as_Used()) {
    events_->on_measured(unit, message->incarnation(), {.use = ProcessUse{used->cpu(), used->memory()}});
  } else if (const auto* measured = message->body_as_Measured()) {
    events_->on_measured(unit, message->incarnation(), unpack_calls(*measured));
  } else if (const auto* exited = message->body_as_Exited()) {
    output_.finish(unit);
    events_->on_exited(unit, message->incarnation(),
                       {.code = exited->code(),
                        .signal = exited->signal(),
                        .core = exited->core(),
                        .out_of_memory = exited->out_of_memory(),
                        .text = text_of(exited->text())});
  } else {
    handle_node(*message);
  }
}

void ProcessHost::handle_node(const control::Message& message) {
  const std::uint32_t incarnation = message.incarnation();
  const auto known = [&](NodeId node) {
    return node < topology_.nodes.size() && topology_.nodes[node].unit == message.unit();
  };
  if (const auto* ready = message.body_as_Ready(); ready != nullptr && known(ready->node())) {
    events_->on_ready(ready->node(), incarnation, text_of(ready->endpoint()));
  } else if (const auto* finished = message.body_as_Finished(); finished != nullptr && known(finished->node())) {
    events_->on_finished(finished->node(), incarnation);
  } else if (const auto* failed = message.body_as_Failed(); failed != nullptr && known(failed->node())) {
    events_->on_failed(failed->node(), incarnation, error_of(*failed));
  } else if (const auto* stop = message.body_as_StopRequested(); stop != nullptr && known(stop->node())) {
    events_->on_stop_requested(stop->node(), incarnation, text_of(stop->reason()));
  } else if (const auto* made = message.body_as_ProgressMade(); made != nullptr && known(made->node())) {
    Progress progress{.step = made->step(), .total = made->total()};
    if (made->values() != nullptr) {
      for (const auto* value : *made->values()) progress.values.emplace_back(text_of(value->name()), value->value());
    }
    events_->on_progress(made->node(), incarnation, progress);
  } else if (const auto* saved = message.body_as_Saved(); saved != nullptr && known(saved->node())) {
    events_->on_saved(saved->node(), incarnation, saved->step());
  } else if (const auto* not_saved = message.body_as_NotSaved(); not_saved != nullptr && known(not_saved->node())) {
    events_->on_not_saved(not_saved->node(), incarnation, not_saved->step(),
                          Error(ErrorKind::failed, text_of(not_saved->text())));
  } else if (const auto* alive = message.body_as_Alive(); alive != nullptr && known(alive->node())) {
    events_->on_alive(alive->node(), incarnation);
  }
}

}  // namespace lp::internal

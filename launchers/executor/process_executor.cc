#include "launchers/executor/process_executor.h"

#include <algorithm>
#include <utility>

#include "launchers/control/checkpoint_transfer.h"
#include "launchers/control/control_generated.h"
#include "launchers/control/measurement.h"
#include "launchers/control/messages.h"
#include "launchers/control/node_events.h"
#include "launchers/os/spawn.h"
#include "lp/base/error.h"
#include "lp/checkpoint/cut.h"
#include "lp/program/peer_state.h"
#include "lp/wire/flatbuffer_text.h"

namespace lp::internal {
namespace {

const std::string kNotStarted = "could not be started: ";
const std::string kNoHost = "no host that is left can have it: ";

}  // namespace

ProcessExecutor::ProcessExecutor(const SupervisionGraph& topology, NodeStart start, std::string mark, Placer places,
                                 std::vector<std::unique_ptr<AgentLink>> agents,
                                 std::unique_ptr<HostReconnector> redial, EventLoop& loop, NodeOutput& output)
    : graph_(topology),
      start_(std::move(start)),
      mark_(std::move(mark)),
      places_(std::move(places)),
      agents_(std::move(agents)),
      reconnector_(std::move(redial)),
      loop_(loop),
      output_(output),
      units_(topology.units.size()),
      keys_(topology.units.size()) {}

ProcessExecutor::~ProcessExecutor() {
  for (const auto& agent : agents_) agent->close();  // closes all links before it waits for one
}

void ProcessExecutor::attach(ExecutorEvents& events) {
  events_ = &events;
  for (std::size_t host = 0; host < agents_.size(); ++host) attach(host);
  if (reconnector_ == nullptr) return;
  reconnector_->attach(loop_, [this](std::size_t host, RemoteAgent agent) { take_back(host, std::move(agent)); });
}

void ProcessExecutor::attach(std::size_t host) {
  agents_[host]->attach(loop_, {.hear = [this, host](auto bytes) { handle(host, bytes); },
                                .lost = [this, host](const std::string& why) { lose(host, why); }});
}

std::string ProcessExecutor::host_of(std::size_t unit) const {
  const std::size_t host = places_.of(unit).host;
  return host != Assignment::kNowhere && agents_[host]->remote() ? places_.host(host).spec.name : std::string();
}

Time ProcessExecutor::next() const {
  Time next = reconnector_ == nullptr ? kNever : reconnector_->next();
  for (const auto& agent : agents_) next = std::min(next, agent->next());
  return next;
}

void ProcessExecutor::advance(Time now) {
  for (const auto& agent : agents_) agent->advance(now);
  if (reconnector_ != nullptr) reconnector_->advance(now);
}

// Sends nothing when the unit has no host: its end is on its way to the coordinator.
template <class Body>
void ProcessExecutor::tell(std::size_t unit, Body body) {
  const std::size_t host = places_.of(unit).host;
  std::vector<std::uint8_t> message = pack(unit, units_[unit].incarnation, std::move(body));
  if (units_[unit].cut.has_value()) {
    units_[unit].held.push_back(std::move(message));
  } else if (host != Assignment::kNowhere) {
    agents_[host]->send(message);
  }
}

void ProcessExecutor::connect(std::size_t host, Descriptor stream) {
  agents_[host]->connect(std::make_unique<MessageStream>(stream.release(), kSmallMessages));
  say_flow(host);
}

void ProcessExecutor::say_flow(std::size_t host) {
  control::FlowT flow;
  flow.paused = !takes_output_;
  agents_[host]->send(pack(0, 0, std::move(flow)));
}

void ProcessExecutor::welcome(std::size_t host, const control::Hello& hello) {
  places_.meet(host, text_of(hello.address()), text_of(hello.directory()), text_of(hello.machine()));
  there_.insert(host);
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    if (places_.of(unit).host == host && units_[unit].cut.has_value()) start_waiting(unit);
  }
  events_->on_room();
}

// The lost host has an agent again. It may be another machine now.
void ProcessExecutor::take_back(std::size_t host, RemoteAgent agent) {
  agents_[host] = std::move(agent.link);
  attach(host);
  say_flow(host);
  const std::string had = places_.capacity_text(host);
  if (agent.capacity.spec.address.empty()) agent.capacity.spec.address = places_.host(host).spec.address;
  places_.take_back(host, std::move(agent.capacity));
  const std::string has = places_.capacity_text(host);
  events_->on_news("host " + places_.host(host).spec.name + " is there again" +
                   (has == had ? "" : "; it had " + had + ", and has " + has));
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    if (!units_[unit].cut.has_value()) continue;
    const std::string problem = places_.place(unit, /*needed=*/true);
    if (problem.empty()) {
      start_waiting(unit);
    } else if (!may_wait(unit)) {
      give_up_waiting(unit, kNotStarted + kNoHost + problem);
    }
  }
  events_->on_room();
}

void ProcessExecutor::start_waiting(std::size_t unit) {
  start_there(unit, *std::exchange(units_[unit].cut, {}));
  for (const auto& message : std::exchange(units_[unit].held, {})) agents_[places_.of(unit).host]->send(message);
}

// Stops a unit from waiting for its agent. Returns true if it did wait; on_exited follows.
bool ProcessExecutor::give_up_waiting(std::size_t unit, const std::string& text) {
  if (!units_[unit].cut.has_value()) return false;
  units_[unit].cut.reset();
  units_[unit].held.clear();
  end(unit, text);
  return true;
}

void ProcessExecutor::take_output(bool take) {
  if (take == takes_output_) return;
  takes_output_ = take;
  for (std::size_t host = 0; host < agents_.size(); ++host) say_flow(host);
}

std::string ProcessExecutor::make_key(std::size_t unit) {
  if (start_.run.outside_key.empty()) return {};
  keys_[unit] = make_curve_keys();
  return keys_[unit].public_key;
}

std::string ProcessExecutor::place(std::size_t unit, bool needed) {
  std::string shortage = places_.place(unit, needed);
  if (!shortage.empty()) return needed && may_wait(unit) ? std::string() : shortage;
  const std::size_t host = places_.of(unit).host;
  if (!needed && agents_[host]->dials() && !there_.contains(host)) {
    shortage = places_.host(host).spec.name + " is not there yet";
  }
  return shortage;
}

// Returns true if a lost host that the unit may have is being dialed.
bool ProcessExecutor::may_wait(std::size_t unit) const { return reconnector_ != nullptr && places_.misses_host(unit); }

std::string ProcessExecutor::delay(std::size_t unit) {
  if (!units_[unit].cut.has_value()) return {};
  const std::string shortage = places_.place(unit, /*needed=*/true);
  return shortage.empty() ? "its host has not come up" : kNoHost + shortage;
}

void ProcessExecutor::start(std::size_t unit, std::uint32_t incarnation, const std::filesystem::path& cut) {
  units_[unit] = {.incarnation = incarnation, .up = true};
  output_.begin(unit);
  const std::size_t host = places_.of(unit).host;
  if (host != Assignment::kNowhere && agents_[host]->dials() && !there_.contains(host)) {
    units_[unit].cut = cut;
    return;
  }
  start_there(unit, cut);
}

void ProcessExecutor::start_there(std::size_t unit, const std::filesystem::path& cut) {
  const std::uint32_t incarnation = units_[unit].incarnation;
  const std::size_t host = places_.of(unit).host;
  if (host != Assignment::kNowhere && !agents_[host]->open() && !agents_[host]->dials()) places_.lose(host);
  if (const std::string problem = places_.place(unit, /*needed=*/true); !problem.empty()) {
    if (!may_wait(unit)) return end(unit, kNotStarted + kNoHost + problem);
    units_[unit].cut = cut;
    return events_->on_news(graph_.units[unit].name + " waits: " + kNoHost + problem);
  }
  const Assignment& place = places_.of(unit);
  const std::string& directory = places_.host(place.host).directory;
  NodeStart start = start_;
  start.nodes = graph_.units[unit].nodes;
  start.process = {.listen = place.listen, .keys = std::exchange(keys_[unit], {})};
  start.sends_cuts = !start.run.directory.empty() && !directory.empty();
  if (start.sends_cuts) start.run.directory = directory;
  try {
    start.cut = start.sends_cuts && !cut.empty() ? send_cut(unit, cut) : cut.string();
  } catch (const Error& error) {
    return end(unit, kNotStarted + error.text());
  }
  control::SpawnT spawn;
  spawn.name = graph_.units[unit].name;
  spawn.environment = place.environment;
  spawn.environment.push_back(run_mark(mark_, host_of(unit)));
  spawn.environment.push_back(node_mark(mark_, unit, incarnation));
  spawn.cores = place.cores;
  spawn.memory = place.memory;
  spawn.directory = place.directory;
  spawn.debugger = place.debugger;
  spawn.start = pack(unit, incarnation, pack_start(start));
  if (spawn.start.size() + kSmallMessages > kLargeMessages) {
    return end(unit, kNotStarted + "its configuration has " + std::to_string(start_.configuration.size()) +
                         " bytes, which is too much; name a file in it instead");
  }
  tell(unit, std::move(spawn));
}

// Sends the saved files of the unit's nodes to its host. Returns their directory there.
std::string ProcessExecutor::send_cut(std::size_t unit, const std::filesystem::path& cut) {
  const Assignment& place = places_.of(unit);
  const std::uint32_t incarnation = units_[unit].incarnation;
  for (const NodeId node : graph_.units[unit].nodes) {
    const SupervisionGraph::Node& one = graph_.nodes[node];
    if (!one.member) continue;
    agents_[place.host]->send_all(
        pieces_of(cut_file(cut, one.name), {.unit = unit, .incarnation = incarnation, .node = node, .name = one.name}));
  }
  return restore_directory(places_.host(place.host).directory, unit, incarnation);
}

// Stores a piece of a file that a node on another host has saved.
void ProcessExecutor::keep(const control::Message& message, const control::Piece& piece) {
  if (message.incarnation() != units_[message.unit()].incarnation) return;
  try {
    put_piece(cut_file(cut_directory(start_.run.directory, piece.step()), graph_.nodes[piece.node()].name), piece);
    if (piece.last()) kept_.insert({piece.node(), piece.step()});
  } catch (const Error& error) {
    events_->on_event({.node = piece.node(),
                       .incarnation = message.incarnation(),
                       .what = NodeEvent::NotSaved{piece.step(), error.what()}});
  }
}

void ProcessExecutor::update(std::size_t unit, std::span<const PeerState> peers) {
  control::UpdateT update;
  for (const PeerState& peer : peers) {
    auto& entry = update.peers.emplace_back(std::make_unique<control::PeerT>());
    entry->node = peer.node;
    entry->incarnation = peer.incarnation;
    entry->endpoint = peer.endpoint;
    entry->key = peer.key;
    entry->gone = peer.gone;
    entry->text = peer.text;
    entry->epoch = peer.epoch;
  }
  tell(unit, std::move(update));
}

void ProcessExecutor::run(NodeId node) {
  control::RunNodeT run;
  run.node = node;
  tell(graph_.nodes[node].unit, std::move(run));
}

void ProcessExecutor::may_save(NodeId node) {
  control::MaySaveT may_save;
  may_save.node = node;
  tell(graph_.nodes[node].unit, std::move(may_save));
}

void ProcessExecutor::stop(std::size_t unit, const std::string& reason, bool run_ends) {
  control::StopT stop;
  stop.reason = reason;
  stop.run_ends = run_ends;
  if (give_up_waiting(unit, "")) return;
  units_[unit].stop = Stop::asked;
  tell(unit, std::move(stop));
}

// A process whose nodes have stopped stays until all processes that stop with it know of the stop. Otherwise their
// calls would fail because the callee has ended.
void ProcessExecutor::let_leave() {
  for (const Unit& unit : units_) {
    if (unit.up && unit.stop == Stop::asked) return;
  }
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    if (!units_[unit].up || units_[unit].stop != Stop::heard) continue;
    units_[unit].stop = Stop::may_leave;
    tell(unit, control::LeaveT());
  }
}

void ProcessExecutor::kill(std::size_t unit) {
  if (!give_up_waiting(unit, "did not start: " + delay(unit))) tell(unit, control::KillT());
}

void ProcessExecutor::probe(NodeId node) {
  control::ProbeT probe;
  probe.node = node;
  tell(graph_.nodes[node].unit, std::move(probe));
}

void ProcessExecutor::measure(std::span<const std::size_t> units) {
  for (const std::size_t unit : units) tell(unit, control::MeasureT());
}

void ProcessExecutor::end(std::size_t unit, const std::string& text) {
  units_[unit].up = false;
  loop_.post([this, unit, incarnation = units_[unit].incarnation, text] {
    output_.finish(unit);
    events_->on_exited(unit, incarnation, {.text = text});
  });
}

// The agents do not execute commands, so they are killed; their children die with them.
void ProcessExecutor::abandon(const std::string& why) {
  for (const auto& agent : agents_) {
    agent->kill();
    agent->close();
  }
  kill_marked(run_mark(mark_));
  events_->on_lost(why + ", so its agent was killed");
}

void ProcessExecutor::lose(std::size_t host, const std::string& why) {
  if (!agents_[host]->remote()) {
    // The nodes got the parent-death signal, but the processes that they started did not.
    kill_marked(run_mark(mark_));
    events_->on_lost("it ended (was it killed?), and all nodes of this host with it: " + why);
    return;
  }
  there_.erase(host);
  if (!agents_[host]->dials()) places_.lose(host);
  if (reconnector_ != nullptr && places_.host(host).spec.comes_back) reconnector_->dial(host);
  const HostCapacity& lost = places_.host(host);
  const std::string name = lost.spec.name + (lost.machine.empty() ? "" : " on " + lost.machine);
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    if (units_[unit].up && !units_[unit].cut.has_value() && places_.of(unit).host == host) {
      end(unit, "was lost with its host " + name + ": " + why);
    }
  }
}

void ProcessExecutor::handle(std::size_t host, std::span<const std::uint8_t> bytes) {
  const control::Message* message = unpack(bytes);
  if (message == nullptr || message->unit() >= graph_.units.size()) return;
  if (const auto* hello = message->body_as_Hello()) return welcome(host, *hello);
  const std::size_t unit = message->unit();
  if (places_.of(unit).host != host) return;  // the unit has another host now
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
    if (units_[unit].incarnation == message->incarnation()) units_[unit].up = false;
    let_leave();
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

void ProcessExecutor::handle_node(const control::Message& message) {
  const std::uint32_t incarnation = message.incarnation();
  const auto known = [&](NodeId node) {
    return node < graph_.nodes.size() && graph_.nodes[node].unit == message.unit();
  };
  if (message.body_as_Stopping() != nullptr && incarnation == units_[message.unit()].incarnation) {
    units_[message.unit()].stop = Stop::heard;
    let_leave();
  } else if (const auto* piece = message.body_as_Piece(); piece != nullptr && known(piece->node())) {
    keep(message, *piece);
  } else if (const auto* event = message.body_as_NodeEvent(); event != nullptr && known(event->node())) {
    handle_event(unpack_event(*event, incarnation));
  }
}

void ProcessExecutor::handle_event(const NodeEvent& event) {
  if (const auto* saved = std::get_if<NodeEvent::Saved>(&event.what)) {
    const std::size_t unit = graph_.nodes[event.node].unit;
    const bool sent = !places_.host(places_.of(unit).host).directory.empty();
    // A file that could not be stored was reported already.
    if (sent && kept_.erase({event.node, saved->step}) == 0) return may_save(event.node);
  }
  events_->on_event(event);
}

}  // namespace lp::internal

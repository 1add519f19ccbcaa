#include "launchers/executor/process_executor.h"

#include <algorithm>
#include <span>
#include <utility>
#include <variant>

#include "launchers/control/checkpoint_transfer.h"
#include "launchers/control/control_generated.h"
#include "launchers/control/control_messages.h"
#include "launchers/control/measurement.h"
#include "launchers/control/node_events.h"
#include "launchers/control/spans_record.h"
#include "launchers/os/spawn.h"
#include "lp/base/error.h"
#include "lp/base/json_value.h"
#include "lp/checkpoint/cut.h"
#include "lp/program/peer_state.h"
#include "lp/wire/flatbuffer_text.h"

namespace lp::launch {
namespace {

const std::string kCouldNotStart = "could not be started: ";
const std::string kNoHost = "no remaining host has room for it: ";

ProcessUse use_of(const control::Used& used) {
  ProcessUse use{.cpu = used.cpu(), .memory = used.memory(), .gpus = {.memory = used.gpu_memory()}};
  if (used.gpu_busy() >= 0) use.gpus.busy = used.gpu_busy();
  if (used.gpus() != nullptr) {
    for (const auto* one : *used.gpus()) use.gpus.uuids.push_back(one->str());
  }
  return use;
}

}  // namespace

ProcessExecutor::ProcessExecutor(const SupervisionGraph& graph, NodeStart start, std::string mark, Placer placer,
                                 std::vector<std::unique_ptr<AgentLink>> agents,
                                 std::unique_ptr<HostReconnector> redial, EventLoop& loop, NodeOutput& output)
    : graph_(graph),
      start_(std::move(start)),
      mark_(std::move(mark)),
      placer_(std::move(placer)),
      agents_(std::move(agents)),
      reconnector_(std::move(redial)),
      loop_(loop),
      output_(output),
      processes_(graph.processes.size()),
      keys_(graph.processes.size()) {}

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
  agents_[host]->attach(loop_, {.on_message = [this, host](auto bytes) { handle(host, bytes); },
                                .lost = [this, host](const std::string& why) { lose(host, why); }});
}

std::string ProcessExecutor::host_of(std::size_t process) const {
  const std::size_t host = placer_.of(process).host;
  return host != Assignment::kNowhere && agents_[host]->remote() ? placer_.host(host).spec.name : std::string();
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

// Sends nothing when the process has no host: its end is on its way to the coordinator.
template <class Body>
void ProcessExecutor::send(std::size_t process, Body body) {
  const std::size_t host = placer_.of(process).host;
  std::vector<std::uint8_t> message = pack(process, processes_[process].incarnation, std::move(body));
  if (processes_[process].cut.has_value()) {
    processes_[process].held.push_back(std::move(message));
  } else if (host != Assignment::kNowhere) {
    agents_[host]->send(message);
  }
}

void ProcessExecutor::connect(std::size_t host, Descriptor stream) {
  agents_[host]->connect(std::make_unique<MessageStream>(stream.release(), kSmallMessages));
  send_flow(host);
}

void ProcessExecutor::send_flow(std::size_t host) {
  control::FlowT flow;
  flow.paused = !takes_output_;
  agents_[host]->send(pack(0, 0, std::move(flow)));
}

void ProcessExecutor::on_hello(std::size_t host, const control::Hello& hello) {
  placer_.connected(host, wire::text_of(hello.address()), wire::text_of(hello.directory()),
                    wire::text_of(hello.machine()));
  there_.insert(host);
  for (std::size_t process = 0; process < processes_.size(); ++process) {
    if (placer_.of(process).host == host && processes_[process].cut.has_value()) start_waiting(process);
  }
  events_->on_room();
}

// The lost host has an agent again. It may be another machine now.
void ProcessExecutor::take_back(std::size_t host, RemoteAgent agent) {
  agents_[host] = std::move(agent.link);
  attach(host);
  send_flow(host);
  const std::string had = placer_.capacity_text(host);
  if (agent.capacity.spec.address.empty()) agent.capacity.spec.address = placer_.host(host).spec.address;
  placer_.take_back(host, std::move(agent.capacity));
  const std::string has = placer_.capacity_text(host);
  events_->on_news("host " + placer_.host(host).spec.name + " is connected again" +
                   (has == had ? "" : "; it had " + had + ", and has " + has));
  for (std::size_t process = 0; process < processes_.size(); ++process) {
    if (!processes_[process].cut.has_value()) continue;
    const std::string problem = placer_.place(process, /*needed=*/true);
    if (problem.empty()) {
      start_waiting(process);
    } else if (!may_wait(process)) {
      give_up_waiting(process, kCouldNotStart + kNoHost + problem);
    }
  }
  events_->on_room();
}

void ProcessExecutor::start_waiting(std::size_t process) {
  start_there(process, *std::exchange(processes_[process].cut, {}));
  for (const auto& message : std::exchange(processes_[process].held, {}))
    agents_[placer_.of(process).host]->send(message);
}

// Stops a process from waiting for its agent. Returns true if it did wait; on_exited follows.
bool ProcessExecutor::give_up_waiting(std::size_t process, const std::string& text) {
  if (!processes_[process].cut.has_value()) return false;
  processes_[process].cut.reset();
  processes_[process].held.clear();
  end(process, text);
  return true;
}

void ProcessExecutor::take_output(bool take) {
  if (take == takes_output_) return;
  takes_output_ = take;
  for (std::size_t host = 0; host < agents_.size(); ++host) send_flow(host);
}

std::string ProcessExecutor::make_key(std::size_t process) {
  if (start_.run.outside_key.empty()) return {};
  keys_[process] = make_curve_keys();
  return keys_[process].public_key;
}

std::string ProcessExecutor::place(std::size_t process, bool needed) {
  std::string shortage = placer_.place(process, needed);
  if (!shortage.empty()) return needed && may_wait(process) ? std::string() : shortage;
  const std::size_t host = placer_.of(process).host;
  if (!needed && agents_[host]->dials() && !there_.contains(host)) {
    shortage = placer_.host(host).spec.name + " is not connected yet";
  }
  return shortage;
}

// Returns true if a lost host that the process may have is being dialed.
bool ProcessExecutor::may_wait(std::size_t process) const {
  return reconnector_ != nullptr && placer_.misses_host(process);
}

std::string ProcessExecutor::delay(std::size_t process) {
  if (!processes_[process].cut.has_value()) return {};
  const std::string shortage = placer_.place(process, /*needed=*/true);
  return shortage.empty() ? "its host could not be connected" : kNoHost + shortage;
}

void ProcessExecutor::start(std::size_t process, std::uint32_t incarnation, const std::filesystem::path& cut) {
  processes_[process] = {.incarnation = incarnation, .up = true};
  output_.begin(process);
  const std::size_t host = placer_.of(process).host;
  if (host != Assignment::kNowhere && agents_[host]->dials() && !there_.contains(host)) {
    processes_[process].cut = cut;
    return;
  }
  start_there(process, cut);
}

void ProcessExecutor::start_there(std::size_t process, const std::filesystem::path& cut) {
  const std::uint32_t incarnation = processes_[process].incarnation;
  const std::size_t host = placer_.of(process).host;
  if (host != Assignment::kNowhere && !agents_[host]->open() && !agents_[host]->dials()) placer_.lose(host);
  if (const std::string problem = placer_.place(process, /*needed=*/true); !problem.empty()) {
    if (!may_wait(process)) return end(process, kCouldNotStart + kNoHost + problem);
    processes_[process].cut = cut;
    return events_->on_news(graph_.processes[process].name + " waits: " + kNoHost + problem);
  }
  const Assignment& assignment = placer_.of(process);
  const std::string& directory = placer_.host(assignment.host).directory;
  NodeStart start = start_;
  start.nodes = graph_.processes[process].nodes;
  start.spans = spans_;
  if (start.spans.has_value()) start.spans->sent = now();
  start.process = {.listen = assignment.listen, .keys = std::exchange(keys_[process], {})};
  start.sends_cuts = !start.run.directory.empty() && !directory.empty();
  if (start.sends_cuts) start.run.directory = directory;
  try {
    start.cut = start.sends_cuts && !cut.empty() ? send_cut(process, cut) : cut.string();
  } catch (const Error& error) {
    return end(process, kCouldNotStart + error.text());
  }
  control::SpawnT spawn;
  spawn.name = graph_.processes[process].name;
  spawn.environment = assignment.environment;
  spawn.environment.push_back(run_mark(mark_, host_of(process)));
  spawn.environment.push_back(node_mark(mark_, process, incarnation));
  spawn.cores = assignment.cores;
  spawn.memory = assignment.memory;
  spawn.gpus = placer_.gpus_of(process);
  spawn.gpu_memory = assignment.gpu_memory;
  spawn.directory = assignment.directory;
  spawn.debugger = assignment.debugger;
  spawn.start = pack(process, incarnation, pack_start(start));
  if (spawn.start.size() + kSmallMessages > kLargeMessages) {
    return end(process, kCouldNotStart + "its configuration has " + std::to_string(start_.configuration.size()) +
                            " bytes, which is too much: put large values into a file, and give its name");
  }
  send(process, std::move(spawn));
}

// Sends the saved files of the process's nodes to its host. Returns their directory there.
std::string ProcessExecutor::send_cut(std::size_t process, const std::filesystem::path& cut) {
  const Assignment& assignment = placer_.of(process);
  const std::uint32_t incarnation = processes_[process].incarnation;
  for (const NodeId node : graph_.processes[process].nodes) {
    const SupervisionGraph::Node& one = graph_.nodes[node];
    if (!one.member) continue;
    agents_[assignment.host]->send_all(pieces_of(
        cut_file(cut, one.name), {.process = process, .incarnation = incarnation, .node = node, .name = one.name}));
  }
  return restore_directory(placer_.host(assignment.host).directory, process, incarnation);
}

// Stores a piece of a file that a node on another host has saved.
void ProcessExecutor::keep(const control::Message& message, const control::Piece& piece) {
  if (message.incarnation() != processes_[message.process()].incarnation) return;
  try {
    put_piece(cut_file(cut_directory(start_.run.directory, piece.step()), graph_.nodes[piece.node()].name), piece);
    if (piece.last()) kept_.insert({piece.node(), piece.step()});
  } catch (const Error& error) {
    events_->on_event({.node = piece.node(),
                       .incarnation = message.incarnation(),
                       .what = NodeEvent::NotSaved{piece.step(), error.what()}});
  }
}

void ProcessExecutor::update(std::size_t process, std::span<const PeerState> peers) {
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
  send(process, std::move(update));
}

void ProcessExecutor::order(NodeId node, NodeOrder what) {
  const auto send_it = [this, node](auto body) {
    body.node = node;
    send(graph_.nodes[node].process, std::move(body));
  };
  switch (what) {
    case NodeOrder::run: return send_it(control::RunNodeT());
    case NodeOrder::may_save: return send_it(control::MaySaveT());
    case NodeOrder::probe: return send_it(control::ProbeT());
  }
}

void ProcessExecutor::end_cut(std::size_t process, std::uint64_t step, bool complete) {
  control::CutEndedT ended;
  ended.step = step;
  ended.complete = complete;
  send(process, std::move(ended));
}

void ProcessExecutor::stop(std::size_t process, const std::string& reason, bool run_ends) {
  control::StopT stop;
  stop.reason = reason;
  stop.run_ends = run_ends;
  if (give_up_waiting(process, "")) return;
  processes_[process].stop = Stop::asked;
  send(process, std::move(stop));
}

// A process whose nodes have stopped stays until all processes that stop with it know of the stop. Otherwise their
// calls would fail because the callee has ended.
void ProcessExecutor::let_leave() {
  for (const Process& process : processes_) {
    if (process.up && process.stop == Stop::asked) return;
  }
  for (std::size_t process = 0; process < processes_.size(); ++process) {
    if (!processes_[process].up || processes_[process].stop != Stop::heard) continue;
    processes_[process].stop = Stop::may_leave;
    send(process, control::LeaveT());
  }
}

void ProcessExecutor::kill(std::size_t process) {
  if (!give_up_waiting(process, "did not start: " + delay(process))) send(process, control::KillT());
}

void ProcessExecutor::measure(std::span<const std::size_t> processes, Inquiry what) {
  control::MeasureT measure;
  measure.what = static_cast<std::uint8_t>(what);
  for (const std::size_t process : processes) send(process, measure);
}

void ProcessExecutor::record_spans(std::span<const std::size_t> processes, const SpanOrder& order) {
  spans_.reset();
  if (!order.ends) spans_ = order;
  for (const std::size_t process : processes) send(process, pack_order(order));
}

void ProcessExecutor::end(std::size_t process, const std::string& text) {
  processes_[process].up = false;
  loop_.post([this, process, incarnation = processes_[process].incarnation, text] {
    output_.finish(process);
    events_->on_exited(process, incarnation, {.text = text});
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
    events_->on_lost("it ended (was it killed?), and so did all nodes of this host: " + why);
    return;
  }
  there_.erase(host);
  if (!agents_[host]->dials()) placer_.lose(host);
  if (reconnector_ != nullptr && placer_.host(host).spec.comes_back) reconnector_->dial(host);
  const HostCapacity& lost = placer_.host(host);
  const std::string name = lost.spec.name + (lost.machine.empty() ? "" : " on " + lost.machine);
  for (std::size_t process = 0; process < processes_.size(); ++process) {
    if (processes_[process].up && !processes_[process].cut.has_value() && placer_.of(process).host == host) {
      end(process, "was lost with its host " + name + ": " + why);
    }
  }
}

void ProcessExecutor::handle(std::size_t host, std::span<const std::uint8_t> bytes) {
  const control::Message* message = unpack(bytes);
  if (message == nullptr || message->process() >= graph_.processes.size()) return;
  if (const auto* hello = message->body_as_Hello()) return on_hello(host, *hello);
  const std::size_t process = message->process();
  if (placer_.of(process).host != host) return;  // the process has another host now
  if (const auto* output = message->body_as_Output()) {
    if (output->bytes() != nullptr) {
      output_.take(process, output->error(),
                   {reinterpret_cast<const char*>(output->bytes()->data()), output->bytes()->size()});
    }
  } else if (const auto* spawned = message->body_as_Spawned()) {
    events_->on_spawned(process, message->incarnation(), spawned->pid());
  } else if (const auto* used = message->body_as_Used()) {
    events_->on_measured(process, message->incarnation(), {.use = use_of(*used)});
  } else if (const auto* measured = message->body_as_Measured()) {
    events_->on_measured(process, message->incarnation(), unpack_measured(*measured));
  } else if (const auto* stacks = message->body_as_Stacks()) {
    events_->on_measured(process, message->incarnation(),
                         {.stacks = Stacks{wire::text_of(stacks->text()), stacks->problem()}});
  } else if (const auto* spans = message->body_as_Spans()) {
    events_->on_measured(process, message->incarnation(), {.spans = spans->text()->str(), .last_spans = spans->last()});
  } else if (message->body_as_Threads() != nullptr || message->body_as_Waits() != nullptr) {
    take_waits(*message);
  } else if (const auto* exited = message->body_as_Exited()) {
    output_.finish(process);
    if (processes_[process].incarnation == message->incarnation()) processes_[process].up = false;
    if (exited->broken_gpus() != nullptr) {
      for (const auto* gpu : *exited->broken_gpus()) placer_.break_gpu(host, gpu->str());
    }
    let_leave();
    events_->on_exited(process, message->incarnation(),
                       {.code = exited->code(),
                        .signal = exited->signal(),
                        .core = exited->core(),
                        .out_of_memory = exited->out_of_memory(),
                        .text = wire::text_of(exited->text())});
  } else {
    handle_node(*message);
  }
}

// An answer that is malformed counts as none.
void ProcessExecutor::take_waits(const control::Message& message) {
  Measurement part;
  try {
    if (const auto* threads = message.body_as_Threads()) {
      part.threads = from_json<std::vector<ThreadState>>(threads->text()->string_view());
    } else {
      part.waits = from_json<ProcessWaits>(message.body_as_Waits()->text()->string_view());
    }
  } catch (const Error&) {
    return;
  }
  events_->on_measured(message.process(), message.incarnation(), std::move(part));
}

void ProcessExecutor::handle_node(const control::Message& message) {
  const std::uint32_t incarnation = message.incarnation();
  const auto known = [&](NodeId node) {
    return node < graph_.nodes.size() && graph_.nodes[node].process == message.process();
  };
  if (message.body_as_Stopping() != nullptr && incarnation == processes_[message.process()].incarnation) {
    processes_[message.process()].stop = Stop::heard;
    let_leave();
  } else if (const auto* piece = message.body_as_Piece(); piece != nullptr && known(piece->node())) {
    keep(message, *piece);
  } else if (const auto* event = message.body_as_NodeEvent(); event != nullptr && known(event->node())) {
    handle_event(unpack_event(*event, incarnation));
  }
}

void ProcessExecutor::handle_event(const NodeEvent& event) {
  if (const auto* saved = std::get_if<NodeEvent::Saved>(&event.what)) {
    const std::size_t process = graph_.nodes[event.node].process;
    const bool sent = !placer_.host(placer_.of(process).host).directory.empty();
    // A file that could not be stored was reported already.
    if (sent && kept_.erase({event.node, saved->step}) == 0) return order(event.node, NodeOrder::may_save);
  }
  events_->on_event(event);
}

}  // namespace lp::launch

#include "lp/program/runtime.h"

#include <algorithm>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "lp/checkpoint/checkpoint.h"
#include "lp/checkpoint/cut.h"
#include "lp/program/runtime_state.h"
#include "lp/program/scratch.h"
#include "lp/rpc/nearest_network.h"

namespace lp {
namespace {

constexpr auto kJoinTimeout = std::chrono::seconds(1);  // for threads that do not end; then they are abandoned

// Names of lp's own entries in a checkpoint.
constexpr const char* kOnceEntry = "lp.once";
constexpr const char* kNumbersEntry = "lp.numbers";

// A heartbeat that runs in the service's own turn.
class Probe final : public rpc::Task {
 public:
  explicit Probe(Function<void()> alive) : alive_(std::move(alive)) {}
  void run() noexcept override {
    alive_();
    delete this;
  }
  void refuse(const Error&) noexcept override { delete this; }

 private:
  Function<void()> alive_;
};

}  // namespace

Runtime::State::State(const Program& the_program, Options the_options, Observer& the_observer)
    : program(the_program),
      options(std::move(the_options)),
      observer(the_observer),
      process(process_options()),
      current(program.nodes().size()),
      endpoints(program.nodes().size()),
      keys(program.nodes().size()),
      outside(program.nodes().size()) {
  if (options.network) process.join(std::make_unique<rpc::NearestNetwork>(process));
  for (const GroupSpec& group : program.groups()) members.emplace_back(static_cast<std::size_t>(group.size));
}

rpc::LocalProcess::Options Runtime::State::process_options() {
  rpc::LocalProcess::Options out{.run = options.run, .own = options.process, .fingerprint = program.fingerprint()};
  for (const NodeSpec& node : program.nodes()) out.nodes.push_back(node.name);
  out.fail = [this](const Error& error) {
    std::vector<Context::Incarnation*> here;  // outside the lock, which the supervisor may need
    {
      const std::lock_guard lock(mutex);
      here = current;
    }
    for (Context::Incarnation* one : here) {
      if (one != nullptr) one->report(NodeEvent::Failed{error});
    }
  };
  return out;
}

rpc::Membership* Runtime::State::membership(const std::string& group, int size) {
  if (size == 0) return nullptr;
  const GroupSpec& found = program.check_group(group, size);
  return &members[static_cast<std::size_t>(&found - program.groups().data())];
}

// Runs after the peers are updated, so that a caller that is notified of a new member can call it.
void Runtime::State::update_members(std::span<const PeerState> news) {
  struct Change {
    std::uint64_t epoch = 0;
    std::vector<rpc::Membership::News> members{};
  };
  std::map<std::size_t, Change> changes;  // by group
  for (const PeerState& one : news) {
    const NodeSpec& node = program.nodes()[one.node];
    Change& change = changes[node.group];
    change.epoch = std::max(change.epoch, one.epoch);
    change.members.push_back({static_cast<std::size_t>(node.index), !one.gone});
  }
  for (const auto& [group, change] : changes) members[group].update(change.epoch, change.members);
}

std::string Runtime::State::endpoint() const {
  return process.network() == nullptr ? std::string() : process.network()->endpoint();
}

void Runtime::State::close() {
  process.close();
  for (rpc::Membership& group : members) group.close();
}

// Counts a task that uses the incarnation from a thread of the pool.
struct Working {
  explicit Working(Context::Incarnation& the_state) : state(the_state) { state.working.fetch_add(1); }
  ~Working() {
    if (state.working.fetch_sub(1) == 1) state.quiet.set();
  }
  Working(const Working&) = delete;
  Working& operator=(const Working&) = delete;
  Context::Incarnation& state;
};

// A save, until it is on disk. Saves run one at a time: a node waits if it saves faster than the disk or the supervisor
// accepts.
struct Saving {
  explicit Saving(Context::Incarnation& state) : working(state) {
    while (state.saving.exchange(true)) {
      const rpc::WaitScope wait(rpc::current_call_context(), {.what = WaitingThread::For::save, .since = about_now()});
      state.may_save.wait();
    }
  }
  ~Saving() {
    if (!reported) working.state.end_saving();
  }
  Saving(const Saving&) = delete;
  Saving& operator=(const Saving&) = delete;
  Working working;
  bool reported = false;  // the supervisor was notified: it decides when the next save may begin
};

// The current thread runs run() while this lives.
struct RunThread {
  explicit RunThread(rpc::ServiceInstance& the_core) : core(the_core) { core.set_run_thread(thread_id()); }
  ~RunThread() { core.set_run_thread(0); }
  RunThread(const RunThread&) = delete;
  RunThread& operator=(const RunThread&) = delete;
  rpc::ServiceInstance& core;
};

void Context::Incarnation::build(const std::filesystem::path& cut) noexcept {
  try {
    rpc::CallContext call_context{.node = &core};
    const rpc::CallContextScope scope(call_context);
    object = spec.build(context);
    core.set_object(object->service());
    if (!cut.empty() && spec.type->saves) {
      const Checkpoint checkpoint = Checkpoint::read(cut_file(cut, spec.name));
      object->load(checkpoint);
      core.once().load(checkpoint.get_message(kOnceEntry));
      last_cut = checkpoint.step();
      for (const auto& [node, number] : checkpoint.get<std::map<std::string, std::uint64_t>>(kNumbersEntry)) {
        context.edge(node, internal::Interface()).set_next_number(number);
      }
    }
    if (core.stopping()) return;
    runtime.process.peer(core.id()).up_here(core);
    report(NodeEvent::Ready{runtime.endpoint()});
  } catch (...) {
    report(NodeEvent::Failed{as_error(std::current_exception())});
  }
}

void Context::Incarnation::run() noexcept {
  rpc::CallContext call_context{.node = &core};
  const rpc::CallContextScope scope(call_context);
  const RunThread thread_of_run(core);
  try {
    object->run(context);
    report(NodeEvent::Finished{answers()});
  } catch (...) {
    const Error error = as_error(std::current_exception());
    if (core.stopping() && error.kind() == ErrorKind::stopped) {
      report(NodeEvent::Finished{answers()});
    } else {
      report(NodeEvent::Failed{error});
    }
  }
}

std::vector<NodeEvent::Answer> Context::Incarnation::answers() {
  std::vector<NodeEvent::Answer> all;
  const std::lock_guard lock(mutex);
  for (const auto& [name, edge] : edges) {
    const std::uint32_t answered = edge->counters().answered();
    if (answered != 0) all.push_back({edge->peer().id(), answered});
  }
  return all;
}

// Returns false when the node has saved this step already: the file on disk may be complete, and stays as it is.
bool Context::Incarnation::begins_cut(std::uint64_t step) {
  const std::lock_guard lock(mutex);
  if (last_cut.has_value() && step < *last_cut) {
    throw Error(ErrorKind::failed,
                "checkpoint(" + std::to_string(step) + ") after checkpoint(" + std::to_string(*last_cut) +
                    "): the steps of a node's checkpoints must grow",
                {.node = spec.name});
  }
  return std::exchange(last_cut, step) != step;
}

void Context::Incarnation::save(std::uint64_t step) {
  auto slot = std::make_unique<Saving>(*this);
  Checkpoint checkpoint;
  object->save(checkpoint);
  checkpoint.put_message(kOnceEntry, core.once().save());
  std::map<std::string, std::uint64_t> numbers;
  {
    const std::lock_guard lock(mutex);
    for (const auto& [node, edge] : edges) numbers.emplace(node, edge->next_number());
  }
  checkpoint.put(kNumbersEntry, numbers);
  // The service goes on while its state is written.
  auto write = [slot = std::move(slot), step, checkpoint = std::move(checkpoint)] {
    Context::Incarnation& self = slot->working.state;
    try {
      const std::filesystem::path cut = cut_directory(self.runtime.options.run.directory, step);
      checkpoint.write(cut_file(cut, self.spec.name), self.spec.name, step);
      slot->reported = self.report(NodeEvent::Saved{step});
    } catch (...) {
      self.report(NodeEvent::NotSaved{step, as_error(std::current_exception()).what()});
    }
  };
  runtime.process.pool().run(std::move(write));
}

void Context::Incarnation::end_saving() noexcept {
  saving = false;
  may_save.set();
}

void Context::Incarnation::save_at_end(std::uint64_t step) {
  due.push_back(step);
  core.turn().at_end([this] {
    rpc::CallContext call_context{.node = &core, .holds_turn = true};
    const rpc::CallContextScope scope(call_context);
    try {
      for (const std::uint64_t one : std::exchange(due, {})) save(one);
    } catch (...) {
      report(NodeEvent::Failed{as_error(std::current_exception())});
    }
  });
}

void Context::Incarnation::probe() {
  if (core.turn().waits()) {
    report(NodeEvent::Alive{});
    return;
  }
  if (const std::optional<WaitLink> work = core.current_work()) {
    report(NodeEvent::Busy{.work = rpc::work_text(*work, runtime.process), .age = work->age});
  }
  core.turn().post_front(new Probe([this] { report(NodeEvent::Alive{}); }));
}

bool Context::Incarnation::report(NodeEvent::What what) {
  if (abandoned.load()) return false;
  runtime.observer.on_event({.node = core.id(), .incarnation = core.incarnation(), .what = std::move(what)});
  return true;
}

bool Context::Incarnation::stop_and_wait(Time until) {
  if (!thread.join_until(until)) return false;
  while (working.load() > 0) {
    if (!quiet.wait(until)) return false;
  }
  if (!core.wait_idle(until)) return false;
  runtime.process.peer(core.id()).down_here(core);
  core.set_object(nullptr);
  object.reset();
  return true;
}

Runtime::Runtime(const Program& program, Options options, Observer& observer)
    : state_(std::make_unique<State>(program, std::move(options), observer)) {}

Runtime::~Runtime() {
  bool all_ended = true;
  for (NodeId node = 0; node < state_->current.size(); ++node) stop(node, "the program is shutting down");
  state_->close();
  const Time end = after(kJoinTimeout);
  for (NodeId node = 0; node < state_->current.size(); ++node) {
    if (!join(node, end)) {
      abandon(node);
      all_ended = false;
    }
  }
  for (const std::filesystem::path& one : state_->scratch) remove_scratch_directory(one);
  for (const auto& incarnation : state_->incarnations) all_ended = all_ended && !incarnation->abandoned.load();
  if (all_ended) return;
  // Threads still use the state: it is kept.
  state_->process.abandon();
  static_cast<void>(state_.release());
}

std::string Runtime::endpoint() const { return state_->endpoint(); }

std::uint64_t Runtime::refused() const { return state_->process.refused(); }

void Runtime::update(std::span<const PeerState> peers) {
  rpc::Network* const network = state_->process.network();
  for (const PeerState& news : peers) {
    rpc::Peer& peer = state_->process.peer(news.node);
    std::string old;
    std::string old_key;
    bool in_use = false;
    bool key_in_use = false;
    {
      const std::lock_guard lock(state_->mutex);
      if (state_->current[news.node] != nullptr) continue;  // the node is in this process
      state_->process.admit(news.node, news.incarnation);   // older incarnations may not call any more
      old = std::exchange(state_->endpoints[news.node], news.gone ? std::string() : news.endpoint);
      in_use = std::find(state_->endpoints.begin(), state_->endpoints.end(), old) != state_->endpoints.end();
      old_key = std::exchange(state_->keys[news.node], news.key);
      key_in_use = std::find(state_->keys.begin(), state_->keys.end(), old_key) != state_->keys.end();
    }
    if (network != nullptr && !news.key.empty()) network->allow(news.key);
    if (network != nullptr && !old_key.empty() && !key_in_use) network->revoke(old_key);
    if (news.gone) {
      peer.gone(news.text);
    } else if (news.endpoint.empty() || network == nullptr) {
      peer.down(news.incarnation);
    } else {
      peer.up_elsewhere(news.incarnation, news.endpoint, news.key);
    }
    if (network != nullptr && !old.empty() && !in_use) network->hang_up(old);
  }
  state_->update_members(peers);
}

void Runtime::start(NodeId node, std::uint32_t incarnation, const std::filesystem::path& cut) {
  Context::Incarnation* started = nullptr;
  {
    const std::lock_guard lock(state_->mutex);
    state_->incarnations.push_back(std::make_unique<Context::Incarnation>(*state_, node, incarnation));
    started = state_->incarnations.back().get();
    state_->current[node] = started;
  }
  try {
    state_->process.pool().run([working = std::make_unique<Working>(*started), cut] { working->state.build(cut); });
  } catch (const Error& error) {  // the system has no thread left
    started->report(NodeEvent::Failed{error});
  }
}

void Runtime::run(NodeId node) {
  Context::Incarnation* const state = state_->find(node);
  if (state == nullptr || !state->spec.type->active || state->core.stopping()) return;
  try {
    state->thread = spawn(state->spec.name, [state] { state->run(); });
  } catch (const Error& error) {  // the system has no thread left
    state->report(NodeEvent::Failed{error});
  }
}

void Runtime::stop(NodeId node, const std::string& reason) {
  if (Context::Incarnation* const state = state_->find(node); state != nullptr) state->core.stop(reason);
}

void Runtime::end_run() { state_->process.end_run(); }

bool Runtime::join(NodeId node, Time until) {
  Context::Incarnation* const state = state_->find(node);
  if (state == nullptr) return true;
  if (!state->stop_and_wait(until)) return false;
  const std::lock_guard lock(state_->mutex);
  if (state_->current[node] == state) state_->current[node] = nullptr;
  return true;
}

void Runtime::abandon(NodeId node) {
  Context::Incarnation* state = nullptr;
  {
    const std::lock_guard lock(state_->mutex);
    state = std::exchange(state_->current[node], nullptr);
  }
  if (state == nullptr) return;
  state->abandoned = true;
  state_->process.peer(node).down_here(state->core);
  state->thread.abandon();
}

void Runtime::may_save(NodeId node) {
  if (Context::Incarnation* const state = state_->find(node); state != nullptr) state->end_saving();
}

void Runtime::end_cut(std::uint64_t step, bool complete) { state_->cuts.end(step, complete); }

void Runtime::close() { state_->close(); }

void Runtime::probe(NodeId node) {
  if (Context::Incarnation* const state = state_->find(node); state != nullptr) state->probe();
}

std::vector<CallStatistics> Runtime::calls() const {
  std::vector<CallStatistics> all;
  const auto add = [&](const std::string& caller, const std::string& callee, const Edge& edge) {
    for (CallStatistics& one : edge.counters().statistics()) {
      one.caller = caller;
      one.callee = callee;
      all.push_back(std::move(one));
    }
  };
  const std::lock_guard lock(state_->mutex);
  for (const auto& incarnation : state_->incarnations) {
    const std::lock_guard of_the_node(incarnation->mutex);
    for (const auto& [callee, edge] : incarnation->edges) add(incarnation->spec.name, callee, *edge);
  }
  for (NodeId callee = 0; callee < state_->outside.size(); ++callee) {
    if (const auto& edge = state_->outside[callee]; edge != nullptr) add("", state_->process.name(callee), *edge);
  }
  return all;
}

void Runtime::add_metrics(NodeId node, MetricSamples& all) const {
  const std::lock_guard lock(state_->mutex);
  Context::Incarnation* const here = state_->current[node];
  if (here == nullptr) return;
  const auto queued = static_cast<double>(here->core.turn().each_waiting(0, [](const rpc::Task&) {}));
  all.samples.push_back({.node = here->spec.name,
                         .name = "lp_node_queue_length",
                         .help = "calls and other work that wait for the node's turn",
                         .value = queued});
  here->metrics.sample(here->spec.name, all);
}

ProcessWaits Runtime::waits(std::size_t calls) const {
  std::size_t here = 0;
  {
    const std::lock_guard lock(state_->mutex);
    for (const Context::Incarnation* node : state_->current) here += node != nullptr ? 1U : 0U;
  }
  const std::size_t most = std::min(calls * std::max<std::size_t>(here, 1), ProcessWaits::kMost);
  ProcessWaits all{.calls = state_->process.calls(most)};
  const std::lock_guard lock(state_->mutex);
  for (const Context::Incarnation* node : state_->current) {
    if (node == nullptr) continue;
    all.nodes.push_back(node->core.waits());
    node->core.add_calls(all.calls, most - all.calls.size());
  }
  return all;
}

SpanRecorder& Runtime::spans() const { return state_->process.spans(); }

rpc::Membership* Runtime::membership(const std::string& group, int size) { return state_->membership(group, size); }

Edge& Runtime::outside_edge(const std::string& node, const internal::Interface& service) {
  const NodeId id = state_->program.check_node(node, service);
  const std::lock_guard lock(state_->mutex);
  std::unique_ptr<Edge>& edge = state_->outside[id];
  if (edge == nullptr) edge = std::make_unique<Edge>(state_->process, nullptr, id);
  return *edge;
}

}  // namespace lp

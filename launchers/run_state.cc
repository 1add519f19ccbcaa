#include "launchers/run_state.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "launchers/control/measurement.h"
#include "launchers/kubernetes/pods.h"
#include "launchers/launch_check.h"
#include "launchers/os/backtrace.h"
#include "launchers/plan/earlier_run.h"
#include "launchers/plan/placement.h"
#include "launchers/record/failure_output.h"
#include "launchers/record/progress_line.h"
#include "launchers/record/run_directory.h"
#include "launchers/slurm/agents.h"
#include "launchers/slurm/job.h"
#include "lp/base/enums.h"
#include "lp/base/error.h"
#include "lp/base/json.h"
#include "lp/base/secret.h"
#include "lp/checkpoint/cut.h"

namespace lp {
namespace {

constexpr auto kStatusPeriod = std::chrono::milliseconds(300);
constexpr auto kLookPeriod = std::chrono::seconds(2);  // between two checks whether the job has begun again
constexpr int kStatusShare = 20;  // writing the status may take at most one kStatusShare-th of the time
constexpr auto kLookerPatience = std::chrono::seconds(1);  // the time that connected tools have to read the rest
constexpr auto kOutputPatience =
    std::chrono::seconds(1);  // for a terminal that does not take the rest, after a failure

// The observer of a runtime without nodes, which has no events.
class NullObserver final : public Runtime::Observer {
  void on_event(NodeEvent) override {}
};

// `must`: a restore point is required.
internal::RestorePoint restore_point(const std::filesystem::path& run, std::uint64_t fingerprint,
                                     const internal::SupervisionGraph& topology, bool must) {
  std::vector<std::string> problems;
  const auto cut = latest_cut(run, &problems);
  if (!cut.has_value()) {
    if (!must) return {};
    std::string why;
    for (const std::string& problem : problems) why += "\n  " + problem;
    throw Error(ErrorKind::failed, "there is no complete cut in " + run.string() + " to resume from" + why);
  }
  if (cut->fingerprint != fingerprint) {
    throw Error(ErrorKind::failed, cut->directory.string() +
                                       " was taken by a program with another graph or other types: " +
                                       "resume it with the binary and the configuration that took it");
  }
  for (const std::string& problem : problems) {
    std::fprintf(stderr, "lp: %s; the run goes on from step %llu\n", problem.c_str(),
                 static_cast<unsigned long long>(cut->step));
  }
  internal::RestorePoint point{cut->step, std::filesystem::absolute(cut->directory)};
  std::set<std::string> names;
  for (const CutMember& member : cut->members) names.insert(member.node);
  for (NodeId node = 0; node < topology.nodes.size(); ++node) {
    if (names.contains(topology.nodes[node].name)) point.members.insert(node);
  }
  return point;
}

}  // namespace

Run::State::State(Run& owner, Program given_program, LaunchOptions given)
    : built(std::make_shared<const Program>(std::move(given_program))),
      program(*built),
      options(std::move(given)),
      launchers_(program, options.launch, options.placements),
      plan(internal::plan_here(program, options)),
      name(options.name.empty() ? internal::new_run_name(program.name()) : options.name),
      owner_(owner),
      mark_(launchers_.of_run() == Launch::kubernetes ? name : name + "." + internal::random_suffix()),
      graph_(internal::topology_of(plan)),
      recorder_(options.directory) {
  internal::check_launcher(launchers_.of_run());
  internal::check_options(program, options);
  if (!options.directory.empty()) take_directory();
  if (begin_.path.empty() && !options.resume.empty()) {
    begin_ = restore_point(options.resume, program.fingerprint(), graph_, /*must=*/true);
  }
  if (options.show != Show::none) {
    terminal_ = std::make_unique<internal::Terminal>(
        internal::Terminal::Options{.drained = [this] { loop_.post([this] { watch_output(); }); }});
  }
  if (options.handle_signals) {
    signals_ = std::make_unique<internal::SignalPoller>();
    watch_interrupts();
  }
  make_host();
  recorder_.begin({.run = name,
                   .program = program.name(),
                   .launch = launchers_.text(),
                   .job = launchers_.of_run() == Launch::slurm ? internal::own_job() : std::string(),
                   .seed = options.seed,
                   .resumed = options.resume.string()},
                  plan, internal::resolved_configuration(options));
  if (recorder_.writes()) open_to_others();
}

// A job that begins again continues in its directory.
void Run::State::take_directory() {
  if (launchers_.of_run() != Launch::slurm || !internal::is_of_this_job(options.directory)) {
    taken_ = internal::make_run_directory(options.directory);
    return;
  }
  internal::claim_for_this_start(options.directory);
  taken_ = internal::make_run_directory(options.directory, /*own=*/true, after(options.start));
  begin_ = restore_point(options.directory, program.fingerprint(), graph_, /*must=*/false);
  next_look_ = now();
}

void Run::State::open_to_others() {
  try {
    admin_ = std::make_unique<internal::RunApi>(options.directory, graph_, loop_, *coordinator_,
                                                [this] { return current_status(); });
  } catch (const Error& error) {
    say("the lp command will see this run's files only: " + error.text());
  }
}

void Run::State::start() {
  thread_ = spawn("run", [this] { serve(); });
}

std::vector<std::string> Run::State::units() const {
  std::vector<std::string> names;
  for (const auto& unit : graph_.units) names.push_back(unit.name);
  return names;
}

void Run::State::make_host() {
  RunSettings run = internal::settings_of(options, name);
  internal::Executor* host = nullptr;
  if (launchers_.of_run() == Launch::threads) {
    if (!options.debug.empty()) {
      throw Error(ErrorKind::failed,
                  "a single node can be debugged only where nodes are processes: add --launch=processes");
    }
    if (options.path == Path::shm || options.path == Path::tcp) {
      throw Error(ErrorKind::failed, "--path=" + std::string(enum_name(options.path)) + " needs --launch=processes");
    }
    if (options.curve || !is_loopback(options.listen)) {
      throw Error(ErrorKind::failed, "--curve and --listen need --launch=processes: threads call one another directly");
    }
    threads_ = std::make_unique<internal::ThreadExecutor>(
        graph_, internal::Placer(plan, graph_, {internal::capacity_here()}, {}), loop_);
    runtime_ = std::make_unique<Runtime>(program, Runtime::Options{.run = std::move(run), .program = built}, *threads_);
    host = threads_.get();
  } else {
    output_ = std::make_unique<internal::NodeOutput>(
        units(),
        internal::NodeOutput::Options{
            .logs = options.directory.empty() ? std::filesystem::path() : options.directory / "logs",
            .log_bytes = options.log_bytes,
            .lines = options.show == Show::lines,
            .all_to_error = options.all_to_error},
        terminal_.get());
    if (options.path == Path::direct) {
      throw Error(ErrorKind::failed, "--path=direct: processes cannot call one another directly; use --launch=threads");
    }
    run.token = secret_text(32);
    internal::Agents agents = launchers_.of_run() == Launch::kubernetes
                                  ? await_agents()
                                  : internal::start_agents(plan, launchers_, options, mark_);
    step_ = std::move(agents.step);
    ProcessSettings process;
    const bool all_here = std::all_of(agents.hosts.begin(), agents.hosts.end(),
                                      [](const auto& one) { return is_loopback(one.spec.address); });
    if (options.curve || !all_here || acceptor_ != nullptr) process.keys = make_curve_keys();
    run.outside_key = process.keys.public_key;
    internal::Placer places(plan, graph_, std::move(agents.hosts),
                            {.pin = options.pin,
                             .dedicated = acceptor_ != nullptr,
                             .launches = launchers_.of_processes(plan),
                             .components = std::move(agents.components),
                             .debug = options.debug,
                             .placements = options.placements});
    processes_ = std::make_unique<internal::ProcessExecutor>(
        graph_,
        internal::NodeStart{.fingerprint = program.fingerprint(),
                            .entry = options.entry.empty() ? program.name() : options.entry,
                            .configuration = options.configuration,
                            .run = run},
        mark_, std::move(places), std::move(agents.links), std::move(agents.redial), loop_, *output_);
    observer_ = std::make_unique<NullObserver>();
    runtime_ = std::make_unique<Runtime>(
        program, Runtime::Options{.run = std::move(run), .process = std::move(process), .network = true}, *observer_);
    host = processes_.get();
  }
  coordinator_ = std::make_unique<internal::Coordinator>(
      graph_,
      internal::Coordinator::Options{.heartbeat = options.heartbeat,
                                     .grace = options.grace,
                                     .start = options.start,
                                     .patient = !options.debug.empty(),
                                     .report = static_cast<bool>(options.report),
                                     .idle = options.idle},
      *host, *this);
  if (threads_ != nullptr) threads_->attach(*runtime_, *coordinator_);
  if (processes_ != nullptr) processes_->attach(*coordinator_);
}

// Each process has a pod, in the order of processes. The agents of pods dial, now and each time Kubernetes has started
// a pod again.
internal::Agents Run::State::await_agents() {
  if (!options.debug.empty()) {
    throw Error(ErrorKind::failed, "a node can be debugged only on this host: use --launch=processes");
  }
  const Duration lease = std::max(options.grace, internal::kLeastLease);
  internal::Agents agents;
  for (const std::string& host : internal::pod_names(plan)) {
    agents.hosts.push_back({.spec = {.name = host, .address = options.listen, .launch = Launch::kubernetes}});
    agents.links.push_back(std::make_unique<internal::AgentLink>(
        internal::AgentLink::Options{.host = host, .lease = lease, .dials = true}));
  }
  internal::AgentAcceptor::Options reception = internal::acceptor_of_pod();
  reception.lease = std::chrono::ceil<std::chrono::seconds>(lease);
  if (reception.agents.size() != agents.links.size()) {
    throw Error(ErrorKind::failed, "the run's Secret has keys for " + std::to_string(reception.agents.size()) +
                                       " processes, and the program has " + std::to_string(agents.links.size()) +
                                       ": do its flags differ from those that it was rendered with?");
  }
  acceptor_ = std::make_unique<internal::AgentAcceptor>(std::move(reception), [this](std::size_t agent,
                                                                                     Descriptor stream) {
    loop_.post([this, agent, stream = std::move(stream)]() mutable { processes_->connect(agent, std::move(stream)); });
  });
  return agents;
}

Run::State::~State() {
  if (thread_.joinable()) {
    post([](internal::Coordinator& coordinator) { coordinator.stop("its Run has gone"); });
    thread_ = Thread();
  }
  // Abandoned threads still use the runtime.
  if (threads_ != nullptr && !threads_->close()) static_cast<void>(runtime_.release());
}

void Run::State::serve() {
  next_stall_look_ = after(options.heartbeat);
  coordinator_->start(begin_, now());
  coordinator_->flush();
  while (coordinator_->phase() != Phase::ended) {
    const bool due = changed_ && !options.directory.empty();
    loop_.wait(std::min({coordinator_->next(), due ? next_status_ : kNever, processes_ ? processes_->next() : kNever,
                         admin_ != nullptr ? admin_->next() : kNever, next_look_, next_stall_look_}));
    coordinator_->set_time(now());
    if (processes_ != nullptr) processes_->advance(now());
    changed_ = loop_.dispatch() || changed_;
    coordinator_->advance(now());
    coordinator_->flush();
    if (admin_ != nullptr) admin_->advance(now());
    watch_output();
    watch_job();
    watch_movement();
    show_progress();
    write_status(false);
  }
  end();
}

void Run::State::end() {
  end_report();
  if (threads_ != nullptr) threads_->close();
  for (std::size_t unit = 0; processes_ != nullptr && unit < graph_.units.size(); ++unit) {
    last_hosts_.push_back(processes_->host_of(unit));
  }
  if (acceptor_ != nullptr) acceptor_->finish();
  if (step_ != nullptr) step_->finish();
  processes_.reset();  // ends all processes that its nodes have left behind
  loop_.close();
  acceptor_.reset();
  step_.reset();
  result = coordinator_->result();
  internal::add_source_lines(result.cause.backtrace, "/proc/" + std::to_string(getpid()) + "/exe");
  write_status(true);
  std::string fault;
  {
    const std::lock_guard lock(mutex_);
    fault = recorder_.end({.success = result.success,
                           .reason = result.reason,
                           .stopped_by = result.stopped_by,
                           .signal = result.signal,
                           .exit_code = result.exit_code(),
                           .cause = result.cause},
                          report_text_);
  }
  if (!fault.empty()) say("the result is not kept in the run's directory: " + fault);
  if (admin_ != nullptr) admin_->finish(after(kLookerPatience));
  if (terminal_ != nullptr) {
    terminal_->flush(result.success ? kNever : after(kOutputPatience));
    terminal_.reset();
  }
  signals_.reset();
  {
    const std::lock_guard lock(mutex_);
    last_status_ = current_status();
  }
  raise(ended_);
}

void Run::State::on_phase(Phase phase) {
  changed_ = true;
  if (phase == Phase::running) raise(ready_);
  // Clients outside the graph, for example a report, must not wait for services that stop or have ended.
  if (phase == (processes_ != nullptr ? Phase::stopping : Phase::ended)) runtime_->close();
}

void Run::State::on_peers(std::span<const PeerState> peers) {
  if (processes_ != nullptr) {
    runtime_->update(peers);
  } else {
    threads_->update(0, peers);
  }
}

internal::RestorePoint Run::State::on_cut_saved(std::uint64_t step, const std::set<NodeId>& members) {
  std::vector<std::string> names;
  for (const NodeId member : members) names.push_back(graph_.nodes[member].name);
  const Cut cut = complete_cut(options.directory, step, program.name(), program.fingerprint(), names);
  cuts_.push_back(step);
  if (cuts_.size() > static_cast<std::size_t>(std::max(options.keep_checkpoints, 1))) cuts_.erase(cuts_.begin());
  prune_cuts(options.directory, cuts_);
  return {step, std::filesystem::absolute(cut.directory), members};
}

void Run::State::on_cut_given_up(std::uint64_t step) {
  try {
    remove_cut(options.directory, step);
  } catch (const Error& error) {
    say(error.text());  // the directory takes room, but is no cut
  }
}

void Run::State::add_output(std::size_t unit, Cause& cause) {
  if (output_ != nullptr) internal::add_failure_output(output_->last_lines(unit), cause);
}

void Run::State::say(const std::string& line) {
  if (terminal_ != nullptr) terminal_->write(true, "lp: " + line + "\n");
}

void Run::State::on_measured(std::size_t unit, internal::Measurement part) {
  stall_.on_measured(unit, part);
  if (admin_ != nullptr) admin_->on_measured(unit, std::move(part));
}

void Run::State::watch_interrupts() {
  loop_.watch(signals_->fd(), [this](internal::EventLoop::Ready) {
    while (const int signal = signals_->take()) {
      if (signal == SIGUSR2) {
        coordinator_->stop_after_cut("its time is over", signal_name(signal), signal, after(options.time_margin / 2));
      } else if (++interrupted_ == 1) {
        say("stopping; once more, and it ends at once");
        coordinator_->stop(signal_name(signal), signal_name(signal), signal);
      } else {
        coordinator_->kill(signal_name(signal));
      }
    }
  });
}

// Slurm may have lost this host and begun the job again on others. Then this start ends and leaves the directory to
// them.
void Run::State::watch_job() {
  if (now() < next_look_) return;
  next_look_ = after(kLookPeriod);
  if (!internal::is_superseded(options.directory)) return;
  next_look_ = kNever;
  coordinator_->fail({.what = "the job has begun again on another host"});
  coordinator_->kill();
}

void Run::State::watch_movement() {
  if (now() < next_stall_look_) return;
  next_stall_look_ = after(options.heartbeat);
  const bool turned = stall_.look(current_status(), internal::use_of(getpid()).cpu);
  const std::string& text = stall_.text();
  changed_ = changed_ || turned || !text.empty();
  if (turned && !text.empty()) say(text);
  if (turned) recorder_.event({.kind = text.empty() ? RunEvent::Kind::moved : RunEvent::Kind::stalled, .text = text});
  coordinator_->measure();
}

// While the terminal takes no text, nodes that print wait, and none of them counts as hanging.
void Run::State::watch_output() {
  if (terminal_ == nullptr || processes_ == nullptr) return;
  const bool full = terminal_->full();
  processes_->take_output(!full);
  coordinator_->hold_heartbeats(full);
}

void Run::State::show_progress() {
  if (terminal_ != nullptr && changed_)
    terminal_->progress(internal::progress_line(coordinator_->speaker(), coordinator_->shown_progress()));
}

void Run::State::write_status(bool always) {
  if (!recorder_.writes() || (!always && (!changed_ || now() < next_status_))) return;
  const Time begin = now();
  const std::string status = to_json(current_status());
  recorder_.status(status);
  if (admin_ != nullptr) admin_->publish(status);
  changed_ = false;
  next_status_ = after(std::max<Duration>(kStatusPeriod, (now() - begin) * kStatusShare));
}

RunStatus Run::State::current_status() const {
  RunStatus status = coordinator_->status();
  status.run = name;
  if (status.phase == Phase::running) status.stalled = stall_.text();
  for (NodeId node = 0; node < status.nodes.size(); ++node) {
    const std::size_t unit = graph_.nodes[node].unit;
    if (processes_ != nullptr) status.nodes[node].host = processes_->host_of(unit);
    if (unit < last_hosts_.size()) status.nodes[node].host = last_hosts_[unit];
  }
  return status;
}

void Run::State::begin_report() {
  const auto done = [this](const std::optional<std::string>& failure) {
    post([failure](internal::Coordinator& coordinator) { coordinator.report_done(failure); });
  };
  try {
    report_ = spawn("report", [this, done] {
      std::optional<std::string> failure;
      try {
        options.report(owner_);
      } catch (...) {
        failure = as_error(std::current_exception()).what();
      }
      done(failure);
    });
  } catch (const Error& error) {  // no thread is left
    done(error.what());
  }
}

void Run::State::keep_report(std::string json) {
  const std::lock_guard lock(mutex_);
  report_text_ = std::move(json);
}

void Run::State::end_report() {
  if (report_.joinable() && !report_.join_until(after(options.grace))) report_.abandon();
}

void Run::State::post(Function<void(internal::Coordinator&)> task) {
  loop_.post([this, task = std::move(task)]() mutable { task(*coordinator_); });
}

RunStatus Run::State::status() {
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return last_status_;
  }
  struct Answer {
    Event event;
    std::optional<RunStatus> status;
  };
  const auto answer = std::make_shared<Answer>();
  loop_.post([this, answer] {
    RunStatus status = current_status();
    const std::lock_guard lock(mutex_);
    answer->status = std::move(status);
    answer->event.set();
  });
  std::unique_lock lock(mutex_);
  waiting_.push_back(&answer->event);
  while (!answer->status.has_value() && !ended_) {  // the loop may end before it runs this
    lock.unlock();
    answer->event.wait();
    lock.lock();
  }
  std::erase(waiting_, &answer->event);
  return answer->status.value_or(last_status_);
}

bool Run::State::wait_for(bool& flag, Time until) {
  Event event;
  {
    const std::lock_guard lock(mutex_);
    if (flag || ended_) return flag;
    waiting_.push_back(&event);
  }
  for (;;) {
    const bool in_time = event.wait(until);
    const std::lock_guard lock(mutex_);
    if (!in_time || flag || ended_) {
      std::erase(waiting_, &event);
      return flag;
    }
  }
}

void Run::State::raise(bool& flag) {
  const std::lock_guard lock(mutex_);
  flag = true;
  for (Event* event : waiting_) event->set();
}

bool Run::State::wait_ended(Time until) { return wait_for(ended_, until); }
bool Run::State::wait_ready(Time until) { return wait_for(ready_, until); }

}  // namespace lp

#include "launchers/run/run_state.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "launchers/control/measurement.h"
#include "launchers/os/backtrace.h"
#include "launchers/os/process_memory.h"
#include "launchers/plan/earlier_run.h"
#include "launchers/record/curve_copy.h"
#include "launchers/record/failure_output.h"
#include "launchers/record/progress_line.h"
#include "launchers/record/run_directory.h"
#include "lp/base/error.h"
#include "lp/base/json.h"
#include "lp/base/text.h"
#include "lp/checkpoint/cut.h"
#include "lp/program/scratch.h"

namespace lp::launch {
namespace {

constexpr auto kJobCheckPeriod = std::chrono::seconds(2);   // between two checks whether the job has begun again
constexpr auto kUsageSavePeriod = std::chrono::seconds(5);  // between two writes of what nodes use, at least
constexpr int kUsageSaveShare = 100;                        // they may take one kUsageSaveShare-th of the time
constexpr auto kReaderTimeout = std::chrono::seconds(1);    // for connected tools to read the rest
constexpr const char* kDirectory = "directory";             // the node of a Cause
constexpr const char* kLostCut = "its newest checkpoint";   // words of lost_
constexpr auto kOutputTimeout = std::chrono::seconds(1);  // for a terminal that does not take the rest, after a failure

std::string own_number(const Engine& engine) {
  return engine.own_job() == nullptr ? std::string() : engine.own_job()->number();
}

}  // namespace

RunState::RunState(Launch given, std::function<void()> report)
    : launch_(std::move(given)),
      run_report_(std::move(report)),
      mark_(launch_.engine().new_mark(launch_.name)),
      graph_(topology_of(launch_.plan)),
      cuts_(launch_, graph_),
      recorder_(launch_.options.directory),
      stall_(launch_.options.heartbeat) {
  std::error_code ignored;
  const bool new_directory = !std::filesystem::exists(launch_.options.directory, ignored);
  try {
    prepare();
  } catch (...) {
    if (new_directory) remove_run_directory(taken_, launch_.options.directory);  // nothing has started
    throw;
  }
  coordinator_ = std::make_unique<Coordinator>(graph_, coordinator_options(), nodes_->executor(), *this);
  nodes_->attach(*coordinator_);
  begin_record();
  if (metrics_ != nullptr) log("metrics are at " + metrics_url_);
  if (!recorder_.writes()) return;
  open_to_others();
  usage_ = std::make_unique<UsageWatch>(launch_.plan, graph_, earlier_usage(launch_.options.directory));
}

// Takes what the run needs and others may have.
void RunState::prepare() {
  const LaunchOptions& options = launch_.options;
  if (!options.directory.empty()) take_directory();
  if (options.show != Show::none) {
    terminal_ =
        std::make_unique<Terminal>(Terminal::Options{.drained = [this] { loop_.post([this] { watch_output(); }); }});
  }
  if (begin_.path.empty() && !options.resume.empty()) continue_earlier();
  const std::filesystem::path& taken_over = launch_.program->taken_over();
  if (begin_.path.empty() && !taken_over.empty()) earlier_ = hold_ended(taken_over);
  if (options.handle_signals) {
    signals_ = std::make_unique<SignalPoller>();
    watch_signals();
  }
  if (!options.metrics.empty()) {
    metrics_ = std::make_unique<MetricsServer>(read_http_address(options.metrics), launch_.program->name(), graph_,
                                               loop_, [this] { return current_status(); });
    metrics_url_ = metrics_->url();
  }
  nodes_ = launch_.engine().make_nodes(parts());
}

void RunState::begin_record() {
  const LaunchOptions& options = launch_.options;
  const std::string fault = recorder_.begin({.run = launch_.name,
                                             .program = launch_.program->name(),
                                             .launch = launch_.choice.text(),
                                             .job = own_number(launch_.engine()),
                                             .ssh = options.ssh,
                                             .metrics = metrics_url_,
                                             .seed = options.seed,
                                             .resumed = options.resume.string()},
                                            launch_.plan, resolved_configuration(options));
  if (fault.empty()) return;
  warn(terminal_.get(), "the run cannot be described in its directory: " + fault);
  lost_.insert("its plan and configuration");
}

RunParts RunState::parts() {
  return {.launch = launch_, .graph = graph_, .mark = mark_, .loop = loop_, .terminal = terminal_.get()};
}

Coordinator::Options RunState::coordinator_options() const {
  const LaunchOptions& options = launch_.options;
  return {.heartbeat = options.heartbeat,
          .grace = options.grace,
          .start = options.start,
          .no_deadlines = !options.debug.empty(),
          .report = static_cast<bool>(run_report_),
          .idle = options.idle};
}

// A job that begins again continues in its directory.
void RunState::take_directory() {
  const std::filesystem::path& directory = launch_.options.directory;
  const OwnJob* job = launch_.engine().own_job();
  if (job == nullptr || !job->continues(directory)) {
    taken_ = make_run_directory(directory);
    remove_abandoned_scratch();
    return;
  }
  job->claim(directory);
  taken_ = make_run_directory(directory, /*own=*/true, after(launch_.options.start));
  begin_ = cuts_.latest(directory, /*required=*/false);
  next_job_check_ = now();
}

void RunState::continue_earlier() {
  const LaunchOptions& options = launch_.options;
  earlier_ = hold_ended(options.resume);
  begin_ = cuts_.continue_from(options.resume);
  if (options.directory.empty()) return;
  try {
    continue_curves(options.resume, options.directory);
  } catch (const Error& error) {
    log("the curves of " + options.resume.string() + " are not continued: " + error.text());
  }
}

void RunState::open_to_others() {
  try {
    admin_ = std::make_unique<RunApi>(launch_.options.directory, graph_, loop_, *coordinator_,
                                      [this] { return current_status(); });
  } catch (const Error& error) {
    log("the lp command can read only the files of this run: " + error.text());
  }
}

void RunState::start() {
  thread_ = spawn("run", [this] { serve(); });
}

RunState::~RunState() {
  if (!thread_.joinable()) return;
  post([](Coordinator& coordinator) { coordinator.stop("its lp::Run was destroyed"); });
  thread_ = Thread();
}

std::vector<std::string> RunState::processes() const {
  std::vector<std::string> names;
  for (const auto& process : graph_.processes) names.push_back(process.name);
  return names;
}

void RunState::serve() {
  next_stall_check_ = after(launch_.options.heartbeat);
  try {
    coordinator_->start(begin_, now());
    coordinator_->flush();
  } catch (...) {
    end_on_failure();
  }
  while (coordinator_->phase() != Phase::ended) {
    try {
      loop_.wait(next());
      advance();
    } catch (...) {
      end_on_failure();
    }
  }
  end();
}

void RunState::advance() {
  coordinator_->set_time(now());
  nodes_->advance(now());
  if (loop_.dispatch()) status_writer_.changed();
  coordinator_->advance(now());
  coordinator_->flush();
  if (admin_ != nullptr) admin_->advance(now());
  watch_output();
  watch_job();
  watch_movement();
  watch_usage();
  if (metrics_ != nullptr && metrics_->advance(now())) coordinator_->measure(Inquiry::use);
  show_progress();
  write_status(false);
}

// The launcher has no memory, no thread or no descriptor for its work. The lost work may have been news of any node, so
// the run ends at once, with this cause. When the launcher cannot do that either, its process ends.
void RunState::end_on_failure() {
  if (std::exchange(broken_, true)) throw;
  const Error error = as_error(std::current_exception());
  coordinator_->fail({.what = std::string("its launcher: ") + error.what()});
  coordinator_->kill();
}

Time RunState::next() const {
  return std::min({coordinator_->next(), recorder_.writes() ? status_writer_.next() : kNever, nodes_->next(),
                   admin_ != nullptr ? admin_->next() : kNever, metrics_ != nullptr ? metrics_->next() : kNever,
                   next_job_check_, next_stall_check_, is_watched() ? usage_->next() : kNever});
}

void RunState::end() {
  report_.end(after(launch_.options.grace));
  nodes_->finish();
  metrics_.reset();
  result_ = coordinator_->result();
  remove_files_of_nodes();
  add_source_lines(result_.cause.backtrace, "/proc/" + std::to_string(getpid()) + "/exe");
  write_status(true);
  record_end();
  if (admin_ != nullptr) admin_->finish(after(kReaderTimeout));
  if (terminal_ != nullptr) {
    terminal_->flush(result_.success ? kNever : after(kOutputTimeout));
    terminal_.reset();
  }
  signals_.reset();
  waiters_.change([this] {
    last_status_ = current_status();
    ended_ = true;
  });
}

// A job that failed may start again, so it keeps all files. Any other run keeps only the files that --resume needs.
void RunState::remove_files_of_nodes() {
  const std::filesystem::path& directory = launch_.options.directory;
  if (directory.empty()) return;
  const bool is_job = launch_.engine().own_job() != nullptr;
  if (result_.success || !is_job) remove_scratch(directory, ScratchLife::run);
  if (result_.success && coordinator_->is_complete()) return remove_scratch(directory, ScratchLife::cuts);
  std::vector<std::string> kept;
  for (const std::filesystem::path& one : kept_scratch(directory, ScratchLife::cuts)) kept.push_back(one.string());
  if (kept.empty() || is_job) return;
  if (launch_.options.resume.empty() && !latest_cut(directory)) return remove_scratch(directory, ScratchLife::cuts);
  log("for --resume=" + launch_.name + " the run keeps " + join(kept, ", ") + ": `lp rm " + launch_.name +
      "` removes it");
}

void RunState::save_curves() {
  if (const std::string fault = recorder_.save_curves(); !fault.empty()) warn(terminal_.get(), fault);
}

void RunState::save_usage() {
  const Time begin = now();
  if (!is_directory_lost()) recorder_.usage(to_json(usage_->record()));
  next_usage_save_ = after(std::max<Duration>(kUsageSavePeriod, (now() - begin) * kUsageSaveShare));
}

// Another run may have put its own directory there.
bool RunState::is_directory_lost() {
  if (directory_lost_ || !taken_ || is_still_taken(taken_, launch_.options.directory)) return directory_lost_;
  directory_lost_ = true;
  warn(terminal_.get(),
       "the run has no records any more, because " + launch_.options.directory.string() + " was removed");
  return true;
}

void RunState::record_end() {
  if (is_directory_lost()) {
    lost_ = {"its records: " + launch_.options.directory.string() + " was removed while it ran"};
    return fail_if_lost();
  }
  save_curves();
  if (recorder_.lost_curves()) lost_.insert("a part of its curves");
  if (usage_ != nullptr) save_usage();
  fail_if_lost();
  std::string fault;
  waiters_.change([&] {
    fault = recorder_.end({.success = result_.success,
                           .reason = result_.reason,
                           .stopped_by = result_.stopped_by,
                           .signal = result_.signal,
                           .exit_code = result_.exit_code(),
                           .cause = result_.cause},
                          report_text_);
  });
  if (fault.empty()) return;
  warn(terminal_.get(), "the result cannot be saved in the run directory: " + fault);
  lost_.insert("its result");
  fail_if_lost();
}

// A run that has lost what others will look for has not succeeded.
void RunState::fail_if_lost() {
  if (lost_.empty() || result_.ending() == Ending::stopped) return;
  if (!result_.success && result_.cause.node != kDirectory) return;
  result_.success = false;
  result_.reason = "its directory is incomplete";
  result_.cause = {.node = kDirectory, .what = "the run could not keep " + join(lost_, ", ")};
}

void RunState::on_phase(Phase phase) {
  status_writer_.changed();
  if (phase == Phase::stopping && usage_ != nullptr) coordinator_->measure(Inquiry::use);  // before processes end
  if (phase == Phase::running) waiters_.change([this] { ready_ = true; });
  if (phase == Phase::running && metrics_ != nullptr) metrics_->on_ready();
  if (phase == nodes_->closing_phase()) nodes_->runtime().close();
}

// The curves are written first: a run that is resumed from the cut has them up to its step.
RestorePoint RunState::on_cut_saved(std::uint64_t step, const std::set<NodeId>& members) {
  save_curves();
  RestorePoint cut = cuts_.complete(step, members);
  earlier_ = {};
  lost_.erase(kLostCut);
  if (metrics_ != nullptr) metrics_->on_cut();
  return cut;
}

void RunState::on_cut_given_up(std::uint64_t step) {
  try {
    cuts_.give_up(step);
  } catch (const Error& error) {
    // The directory takes room, but is no cut: a later cut that is complete removes it.
    if (!lost_.contains(kLostCut)) log(error.text());
  }
}

void RunState::on_cut_failed(const std::string& text) {
  warn(terminal_.get(), text);
  lost_.insert(kLostCut);
  status_writer_.changed();
}

void RunState::add_origin(std::size_t process, Cause& cause) {
  cause.host = nodes_->host_of(process);
  add_failure_output(nodes_->last_lines(process), cause);
}

void RunState::log(const std::string& line) {
  if (terminal_ != nullptr) terminal_->write(true, "lp: " + line + "\n");
}

void RunState::on_measured(std::size_t process, Measurement part) {
  stall_.on_measured(process, part);
  if (metrics_ != nullptr) metrics_->on_measured(process, part);
  if (admin_ != nullptr) admin_->on_measured(process, part);
  if (usage_ != nullptr) usage_->on_measured(process, part);
}

void RunState::watch_signals() {
  loop_.watch(signals_->fd(), [this](EventLoop::Ready) {
    while (const int signal = signals_->take()) {
      if (signal == SIGUSR2) {
        coordinator_->stop_after_cut("its time limit is near", signal_name(signal), signal,
                                     after(launch_.options.time_margin / 2));
      } else if (++interrupted_ == 1) {
        log("the program stops; another signal ends it at once");
        coordinator_->stop(signal_name(signal), signal_name(signal), signal);
      } else {
        coordinator_->kill(signal_name(signal));
      }
    }
  });
}

// The engine may have lost this host and begun the job again on others. Then this start ends and leaves the directory
// to them.
void RunState::watch_job() {
  if (now() < next_job_check_) return;
  next_job_check_ = after(kJobCheckPeriod);
  if (!launch_.engine().own_job()->is_superseded(launch_.options.directory)) return;
  next_job_check_ = kNever;
  coordinator_->fail({.what = "the job was started again on another host"});
  coordinator_->kill();
}

void RunState::watch_movement() {
  if (now() < next_stall_check_) return;
  next_stall_check_ = after(launch_.options.heartbeat);
  const bool turned = stall_.update(current_status(), use_of(getpid()).cpu);
  const std::string& text = stall_.text();
  if (turned || !text.empty()) status_writer_.changed();
  if (turned && !text.empty()) log(text);
  if (turned) recorder_.event({.kind = text.empty() ? RunEvent::Kind::moved : RunEvent::Kind::stalled, .text = text});
  coordinator_->measure(Inquiry::use);
}

bool RunState::is_watched() const { return usage_ != nullptr && coordinator_->phase() < Phase::stopping; }

void RunState::watch_usage() {
  if (!is_watched()) return;
  usage_->advance([this](Inquiry what) { return coordinator_->measure(what); }, [this] { return current_status(); });
  if (passed(next_usage_save_)) save_usage();
}

// While the terminal takes no text, nodes that print wait, and none of them counts as hanging.
void RunState::watch_output() {
  if (terminal_ != nullptr) coordinator_->hold_heartbeats(nodes_->hold_output(terminal_->full()));
}

void RunState::show_progress() {
  if (terminal_ != nullptr && status_writer_.has_changed()) {
    terminal_->progress(progress_line(coordinator_->speaker(), coordinator_->shown_progress()));
  }
}

void RunState::write_status(bool always) {
  if (!recorder_.writes()) return;
  status_writer_.write(always, [this] {
    if (is_directory_lost()) return;
    const std::string status = to_json(current_status());
    recorder_.status(status);
    save_curves();
    if (admin_ != nullptr) admin_->publish(status);
  });
}

RunStatus RunState::current_status() const {
  RunStatus status = coordinator_->status();
  status.run = launch_.name;
  if (status.phase == Phase::running) status.stalled = stall_.text();
  for (NodeId node = 0; node < status.nodes.size(); ++node) {
    status.nodes[node].host = nodes_->host_of(graph_.nodes[node].process);
  }
  return status;
}

void RunState::begin_report() {
  report_.begin(run_report_, [this](const std::optional<std::string>& failure) {
    post([failure](Coordinator& coordinator) { coordinator.report_done(failure); });
  });
}

void RunState::keep_report(std::string json) {
  waiters_.change([&] { report_text_ = std::move(json); });
}

void RunState::post(Function<void(Coordinator&)> task) {
  loop_.post([this, task = std::move(task)]() mutable { task(*coordinator_); });
}

RunStatus RunState::status() {
  struct Answer {
    std::optional<RunStatus> status;
  };
  const auto answer = std::make_shared<Answer>();
  loop_.post([this, answer] {
    RunStatus status = current_status();
    waiters_.change([&] { answer->status = std::move(status); });
  });
  RunStatus status;
  waiters_.wait(
      [&] {
        if (!answer->status.has_value() && !ended_) return false;  // the loop may end before it answers
        status = answer->status.value_or(last_status_);
        return true;
      },
      kNever);
  return status;
}

NodeCurves RunState::curves(const std::string& node) {
  if (launch_.options.directory.empty()) return {};
  loop_.post([this] {
    if (!is_directory_lost()) save_curves();
  });
  status();  // the loop has saved them before it answers, or at its end
  return read_curves(launch_.options.directory, node);
}

bool RunState::wait_ended(Time until) {
  return waiters_.wait([this] { return ended_; }, until);
}

bool RunState::wait_ready(Time until) {
  bool ready = false;
  waiters_.wait(
      [&] {
        ready = ready_;
        return ready_ || ended_;
      },
      until);
  return ready;
}

}  // namespace lp::launch

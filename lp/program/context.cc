#include "lp/program/context.h"

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lp/base/hash.h"
#include "lp/base/text.h"
#include "lp/program/runtime_state.h"
#include "lp/program/scratch.h"
#include "lp/rpc/span.h"

namespace lp {
namespace {

// A request to run f in a service's turn, made by a thread that waits for the result. The first side to claim it
// decides: the turn runs f, or the waiter gives up.
class TurnRequest {
 public:
  explicit TurnRequest(Function<void()> f) : f_(std::move(f)) {}

  bool claim() { return !claimed_.exchange(true); }
  void run() {
    try {
      f_();
    } catch (...) {
      error_ = std::current_exception();
    }
    done_.set();
  }
  void refuse(const Error& error) {
    error_ = std::make_exception_ptr(error);
    done_.set();
  }
  bool wait(Time until) { return done_.wait(until); }
  void rethrow() {
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

 private:
  Function<void()> f_;
  std::atomic<bool> claimed_ = false;
  std::exception_ptr error_;
  Event done_;
};

// What the bounds of a report have taken from it; empty: nothing.
std::string lost_text(const Progress& given, const Progress& within) {
  std::vector<std::string> lost;
  const auto add = [&](std::size_t before, std::size_t after, const std::string& what) {
    if (after < before) lost.push_back(std::to_string(before - after) + " of " + std::to_string(before) + " " + what);
  };
  add(given.values.size(), within.values.size(), "values");
  add(given.histograms.size(), within.histograms.size(), "histograms");
  add(given.texts.size(), within.texts.size(), "texts");
  std::string text;
  if (!lost.empty()) {
    text = join(lost, ", ") + " are left out, because a report has at most " + memory_text(Progress::kMostBytes);
  }
  for (std::size_t i = 0; i < within.texts.size(); ++i) {
    if (within.texts[i].second.size() == given.texts[i].second.size()) continue;
    return text + (text.empty() ? "" : "; ") + "the text " + quote(within.texts[i].first) + " is cut at " +
           memory_text(Progress::kTextBytes);
  }
  return text;
}

constexpr std::string_view kExclusive = "exclusive";  // the name of the work, for inquiries and traces

class TurnTask final : public rpc::Task {
 public:
  TurnTask(rpc::ServiceInstance& core, std::shared_ptr<TurnRequest> request)
      : Task(rpc::new_chain()), core_(core), request_(std::move(request)) {}
  void run() noexcept override {
    if (request_->claim()) {
      rpc::CallContext call_context{.node = &core_, .chain = chain(), .span = asked_in_.span(), .holds_turn = true};
      const rpc::CallContextScope scope(call_context);
      core_.turn().begin_work(kExclusive, WaitLink::kNobody, about_now());
      request_->run();
    }
    delete this;
  }
  void refuse(const Error& error) noexcept override {
    if (request_->claim()) request_->refuse(error);
    delete this;
  }

 private:
  rpc::ServiceInstance& core_;
  std::shared_ptr<TurnRequest> request_;  // shared with the waiter, which may give up
  const rpc::SpanOfCode asked_in_;
};

}  // namespace

const std::string& Context::name() const { return incarnation_.spec.name; }
int Context::index() const { return incarnation_.spec.index; }
int Context::replicas() const { return incarnation_.runtime.program.group_of(incarnation_.core.id()).size; }
std::uint32_t Context::incarnation() const { return incarnation_.core.incarnation(); }
const std::string& Context::run_name() const { return incarnation_.runtime.options.run.name; }
std::filesystem::path Context::scratch(const std::filesystem::path& parent, ScratchLife life) const {
  Runtime::State& runtime = incarnation_.runtime;
  const RunSettings& run = runtime.options.run;
  std::filesystem::path made = make_scratch(run.directory, run.name, parent, life);
  if (run.directory.empty()) {
    const std::lock_guard lock(runtime.mutex);
    runtime.scratch.insert(made);
  }
  return made;
}

std::uint64_t Context::program_seed() const { return incarnation_.runtime.options.run.seed; }
std::uint64_t Context::seed() const { return hash_combine(incarnation_.runtime.options.run.seed, fnv1a(name())); }
Random Context::random(std::uint64_t step) const { return Random(incarnation_.runtime.options.run.seed, name(), step); }

bool Context::stopping() const { return incarnation_.core.stopping(); }

bool Context::wait_for(Duration duration) const {
  Event event;
  const Time end = after(duration);
  const rpc::CallContext* const here = rpc::current_call_context();
  rpc::CallContext call_context{.node = &incarnation_.core, .chain = here == nullptr ? 0 : here->chain};
  const rpc::WaitScope wait(&call_context, event, {.since = about_now(), .until = end});
  while (!wait.stopped()) {
    if (!event.wait(end)) return true;
  }
  return false;
}

void Context::wait_for_stop() const { wait_for(kForever); }

bool Context::has_turn() const {
  const rpc::CallContext* const call_context = rpc::current_call_context();
  return call_context != nullptr && call_context->node == &incarnation_.core && call_context->holds_turn;
}

void Context::take_turn(Function<void()> f) {
  if (has_turn()) {
    f();
    return;
  }
  rpc::Turn& turn = incarnation_.core.turn();
  const Span span(kExclusive);
  if (rpc::CallContext call_context{
          .node = &incarnation_.core, .chain = rpc::new_chain(), .span = rpc::SpanOfCode().span(), .holds_turn = true};
      turn.try_take(call_context.chain)) {
    struct Release {
      rpc::Turn& turn;
      ~Release() { turn.release(); }
    } release{turn};
    const rpc::CallContextScope scope(call_context);
    turn.begin_work(kExclusive, WaitLink::kNobody, about_now());
    f();
    return;
  }
  const auto request = std::make_shared<TurnRequest>(std::move(f));
  turn.post(new TurnTask(incarnation_.core, request));
  const Duration timeout =
      incarnation_.runtime.options.run.no_deadlines ? kForever : incarnation_.runtime.options.run.deadline;
  const Time end = after(timeout);
  rpc::CallContext here{.node = &incarnation_.core};
  const rpc::WaitScope wait(&here, {.what = WaitingThread::For::turn, .since = about_now(), .until = end});
  if (!request->wait(end) && request->claim()) {
    throw Error(ErrorKind::deadline, "exclusive(): the service was busy for longer than the deadline",
                {.node = name()});
  }
  request->rethrow();
}

void Context::stop_program(const std::string& reason) { incarnation_.report(NodeEvent::StopRequested{reason}); }

void Context::fail_program(const std::string& reason) {
  incarnation_.report(NodeEvent::Failed{.error = Error(ErrorKind::failed, reason), .for_good = true});
}

void Context::report(const Progress& progress) {
  Progress within = progress.bounded();
  if (const std::string lost = lost_text(progress, within);
      !lost.empty() && !incarnation_.cuts_reports.exchange(true)) {
    log_line(name() + ": report() of step " + std::to_string(progress.step) + " was too long: " + lost +
             "; later reports that are too long are cut without a message");
  }
  incarnation_.report(std::move(within));
}

void Context::checkpoint(std::uint64_t step) {
  if (!incarnation_.spec.type->saves) {
    throw Error(ErrorKind::failed,
                "checkpoint(): this node needs save(lp::Checkpoint&) and load(const lp::Checkpoint&)",
                {.node = name()});
  }
  if (incarnation_.runtime.options.run.directory.empty() || !incarnation_.begins_cut(step)) return;
  if (has_turn()) {
    incarnation_.save_at_end(step);
  } else {
    take_turn([&] { incarnation_.save(step); });
  }
}

bool Context::wait_for_cut(std::uint64_t step) {
  if (incarnation_.runtime.options.run.directory.empty()) return true;
  return incarnation_.runtime.cuts.end_of(step).get();
}

Edge& Context::edge(const std::string& node, const internal::Interface& service) {
  const NodeId id = incarnation_.runtime.program.check_node(node, service);
  const std::lock_guard lock(incarnation_.mutex);
  std::unique_ptr<Edge>& edge = incarnation_.edges[node];
  if (edge == nullptr) edge = std::make_unique<Edge>(incarnation_.runtime.process, &incarnation_.core, id);
  return *edge;
}

MetricRegistry& Context::metrics() { return incarnation_.metrics; }

rpc::Membership* Context::membership(const std::string& group, int size) {
  return incarnation_.runtime.membership(group, size);
}

}  // namespace lp

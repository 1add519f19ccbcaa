#include "launchers/agent/node_process.h"

#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "launchers/agent/program_registry.h"
#include "launchers/control/checkpoint_transfer.h"
#include "launchers/control/control_generated.h"
#include "launchers/control/control_messages.h"
#include "launchers/control/measurement.h"
#include "launchers/control/message_stream.h"
#include "launchers/control/node_events.h"
#include "launchers/control/node_start.h"
#include "launchers/control/spans_record.h"
#include "launchers/control/waits_record.h"
#include "launchers/os/crash_handler.h"
#include "launchers/os/event_loop.h"
#include "lp/base/error.h"
#include "lp/base/shared_heap.h"
#include "lp/base/text.h"
#include "lp/checkpoint/cut.h"
#include "lp/program/runtime.h"
#include "lp/wire/flatbuffer_text.h"

namespace lp::launch {
namespace {

constexpr auto kLeaveTimeout = std::chrono::seconds(1);  // for other processes to learn of the stop
constexpr auto kFlushTimeout = std::chrono::seconds(5);  // for an agent to read the rest

class NodeHost final : public Runtime::Observer {
 public:
  NodeHost(int control, const Programs& programs) : programs_(programs), control_(control, kLargeMessages) {
    loop_.watch(control_.fd(), [this](EventLoop::Ready ready) {
      if (ready.writable) control_.flush();
      if (ready.readable) receive();
    });
  }

  int serve() {
    while (!done_) {
      loop_.wait(kNever);
      loop_.dispatch();
      loop_.want_writable(control_.fd(), control_.pending() > 0);
    }
    ender_ = Thread();
    if (stopping_) await_leave();
    hand_over_spans();
    runtime_.reset();
    loop_.dispatch();  // handles the last events of the runtime
    for (const Time end = after(kFlushTimeout); control_.pending() > 0 && now() < end;) {
      loop_.want_writable(control_.fd(), true);
      loop_.wait(end);
      loop_.dispatch();
    }
    return failed_ ? 1 : 0;
  }

  void on_event(NodeEvent event) override {
    if (const auto* saved = std::get_if<NodeEvent::Saved>(&event.what); saved != nullptr && start_.sends_cuts) {
      const std::uint64_t step = saved->step;
      const std::string problem = send_cut(event.node, step);
      if (!problem.empty()) event.what = NodeEvent::NotSaved{step, problem};
    }
    if (const auto* failed = std::get_if<NodeEvent::Failed>(&event.what)) note_failure(failed->error);
    send(pack_event(event));
  }

 private:
  template <class Body>
  void send(Body body) {
    loop_.post([this, bytes = pack(unit_, incarnation_, std::move(body))] { control_.send(bytes); });
  }

  // Sends a saved file to the launcher, which shares no file system with this host. Returns why that is impossible;
  // empty: it is on its way.
  std::string send_cut(NodeId node, std::uint64_t step) {
    const std::string& name = program_->nodes()[node].name;
    try {
      const std::filesystem::path file = cut_file(cut_directory(start_.run.directory, step), name);
      auto pieces =
          pieces_of(file, {.process = unit_, .incarnation = incarnation_, .node = node, .name = name, .step = step});
      std::error_code ignored;
      std::filesystem::remove(file, ignored);
      loop_.post([this, pieces = std::move(pieces)]() mutable { control_.send_all(std::move(pieces)); });
      return {};
    } catch (const Error& error) {
      return error.what();
    }
  }

  // Writes the failure into the node's log, too. A stop is no failure of the node.
  void note_failure(const Error& error) {
    const bool stopped = error.kind() == ErrorKind::stopped;
    if (!stopped) std::fprintf(stderr, "%s\n", error.what());
    loop_.post([this, stopped] { failed_ = failed_ || !(stopped && stopping_); });
  }

  // Stays until all processes that stop too know of the stop, so that none of their calls fails because this process
  // has ended.
  void await_leave() {
    for (const Time end = after(kLeaveTimeout); !may_leave_ && now() < end;) {
      loop_.wait(end);
      loop_.dispatch();
      loop_.want_writable(control_.fd(), control_.pending() > 0);
    }
  }

  void receive() {
    std::string fault;
    if (control_.receive([this](auto bytes) { handle(bytes); }, fault)) return;
    // The agent has ended, so no process can receive a report of this one.
    kill(0, SIGKILL);
  }

  void handle(std::span<const std::uint8_t> bytes) {
    const control::Message* message = unpack(bytes);
    if (message == nullptr) {
      log_line("the agent sent something that is not a control message: this process ends");
      kill(0, SIGKILL);
    } else if (const auto* start = message->body_as_Start()) {
      unit_ = message->process();
      incarnation_ = message->incarnation();
      start_ = unpack_start(*start);
      begin();
    } else if (!runtime_) {
      return;
    } else if (const auto* update = message->body_as_Update()) {
      update_peers(*update);
    } else if (const auto* run = message->body_as_RunNode()) {
      if (is_here(run->node())) runtime_->run(run->node());
    } else if (const auto* may_save = message->body_as_MaySave()) {
      if (is_here(may_save->node())) runtime_->may_save(may_save->node());
    } else if (const auto* ended = message->body_as_CutEnded()) {
      runtime_->end_cut(ended->step(), ended->complete());
    } else if (const auto* stop = message->body_as_Stop()) {
      if (stop->run_ends()) runtime_->end_run();
      end(wire::text_of(stop->reason()));
    } else if (const auto* measure = message->body_as_Measure()) {
      answer(static_cast<Inquiry>(measure->what()));
    } else if (const auto* order = message->body_as_RecordSpans()) {
      record_spans(unpack_order(*order));
    } else if (message->body_as_Leave() != nullptr) {
      may_leave_ = true;
    } else if (const auto* probe = message->body_as_Probe(); probe != nullptr && is_here(probe->node())) {
      runtime_->probe(probe->node());
    }
  }

  // This thread answers, because the services may be stuck.
  void answer(Inquiry what) {
    if (what == Inquiry::use) control_.send(pack(unit_, incarnation_, pack_measured(measured())));
    if (what != Inquiry::waits && what != Inquiry::moment) return;
    control::WaitsT waits;
    waits.text = pack_waits(runtime_->waits(what == Inquiry::moment ? ProcessWaits::kFew : ProcessWaits::kMost));
    control_.send(pack(unit_, incarnation_, std::move(waits)));
  }

  void record_spans(const SpanOrder& order) {
    start_.spans.reset();
    if (!order.ends) start_.spans = order;
    control::SpansT spans;
    spans.text = carry_out(order, runtime_->spans());
    if (!order.ends) control_.send(pack(unit_, incarnation_, std::move(spans)));
  }

  // Sends what nobody will ask for, because this process ends.
  void hand_over_spans() {
    if (!start_.spans.has_value() || !runtime_) return;
    std::vector<std::string> rest = take_rest(*start_.spans, runtime_->spans());
    for (std::size_t i = 0; i < rest.size(); ++i) {
      control::SpansT spans;
      spans.text = std::move(rest[i]);
      spans.last = i + 1 == rest.size();
      control_.send(pack(unit_, incarnation_, std::move(spans)));
    }
  }

  Measurement measured() const {
    const SharedHeap* const heap = SharedHeap::current();
    MetricSamples metrics{.shared_memory = heap == nullptr ? 0 : heap->used()};
    for (const NodeId node : start_.nodes) runtime_->add_metrics(node, metrics);
    return measurement_of(runtime_->calls(), std::move(metrics));
  }

  bool is_here(NodeId node) const {
    return std::find(start_.nodes.begin(), start_.nodes.end(), node) != start_.nodes.end();
  }

  void begin() {
    try {
      program_.emplace(programs_.build(start_.entry, start_.configuration));
      if (program_->fingerprint() != start_.fingerprint) {
        throw Error(ErrorKind::failed,
                    "this process has built a different graph than its launcher: either make_program depends on more "
                    "than its configuration, or the program '" +
                        start_.entry + "' is not the one that was launched");
      }
      runtime_ = std::make_unique<Runtime>(
          *program_, Runtime::Options{.run = start_.run, .process = start_.process, .network = true}, *this);
      if (start_.spans.has_value()) runtime_->spans().start(start_.spans->sampling);
      for (const NodeId node : start_.nodes) runtime_->start(node, incarnation_, start_.cut);
    } catch (...) {
      const NodeId first = start_.nodes.empty() ? 0 : start_.nodes.front();
      on_event({first, incarnation_, NodeEvent::Failed{as_error(std::current_exception())}});
      loop_.post([this] { done_ = true; });
    }
  }

  void update_peers(const control::Update& update) {
    std::vector<PeerState> peers;
    if (update.peers() == nullptr) return;
    for (const auto* peer : *update.peers()) {
      if (peer->node() >= program_->nodes().size()) continue;
      peers.push_back({.node = peer->node(),
                       .incarnation = peer->incarnation(),
                       .endpoint = wire::text_of(peer->endpoint()),
                       .key = wire::text_of(peer->key()),
                       .gone = peer->gone(),
                       .text = wire::text_of(peer->text()),
                       .epoch = peer->epoch()});
    }
    runtime_->update(peers);
  }

  // Ends the nodes and waits for them without a limit: the coordinator kills the process after its grace period.
  void end(const std::string& reason) {
    if (std::exchange(stopping_, true)) return;
    for (const NodeId node : start_.nodes) runtime_->stop(node, reason);
    send(control::StoppingT());
    try {
      ender_ = spawn("ender", [this] {
        for (const NodeId node : start_.nodes) runtime_->join(node, kNever);
        loop_.post([this] { done_ = true; });
      });
    } catch (const Error&) {  // no thread is left: nodes that do not end at once are abandoned
      done_ = true;
    }
  }

  const Programs& programs_;
  EventLoop loop_;
  MessageStream control_;
  std::uint32_t unit_ = 0;
  std::uint32_t incarnation_ = 0;
  NodeStart start_;
  std::optional<Program> program_;
  std::unique_ptr<Runtime> runtime_;
  Thread ender_;
  bool stopping_ = false;
  bool may_leave_ = false;
  bool failed_ = false;
  bool done_ = false;
};

}  // namespace

int run_node(int control, const std::string& name, const Programs& programs) {
  prctl(PR_SET_NAME, program_invocation_short_name);
  install_crash_handler(name);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // a printed line leaves at once, so it survives the death of the process
  return NodeHost(control, programs).serve();
}

}  // namespace lp::launch

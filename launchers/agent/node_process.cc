#include "launchers/agent/node_process.h"

#include <signal.h>
#include <sys/prctl.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "launchers/agent/program_registry.h"
#include "launchers/control/checkpoint_transfer.h"
#include "launchers/control/control_generated.h"
#include "launchers/control/measurement.h"
#include "launchers/control/message_stream.h"
#include "launchers/control/messages.h"
#include "launchers/os/crash_handler.h"
#include "launchers/os/event_loop.h"
#include "lp/base/error.h"
#include "lp/checkpoint/cut.h"
#include "lp/program/runtime.h"

namespace lp::internal {
namespace {

constexpr auto kStay = std::chrono::seconds(1);       // after a stop, until other processes know of the stop
constexpr auto kLastWords = std::chrono::seconds(5);  // to write the rest to an agent that does not read

std::string text_of(const flatbuffers::String* string) { return string == nullptr ? std::string() : string->str(); }

class NodeProcess final : public Runtime::Observer {
 public:
  NodeProcess(int control, const Programs& programs) : programs_(programs), control_(control, kLargeMessages) {
    loop_.watch(control_.fd(), [this](EventLoop::Ready ready) {
      if (ready.writable) control_.flush();
      if (ready.readable) hear();
    });
  }

  int serve() {
    while (!done_) {
      loop_.wait(kNever);
      loop_.dispatch();
      loop_.want_writable(control_.fd(), control_.pending() > 0);
    }
    ender_ = Thread();
    if (stopping_) stay();
    runtime_.reset();
    loop_.dispatch();  // handles the last events of the runtime
    for (const Time end = after(kLastWords); control_.pending() > 0 && now() < end;) {
      loop_.want_writable(control_.fd(), true);
      loop_.wait(end);
      loop_.dispatch();
    }
    return failed_ ? 1 : 0;
  }

  void on_ready(NodeId node, std::uint32_t) override {
    control::ReadyT ready;
    ready.node = node;
    ready.endpoint = runtime_->endpoint();
    tell(std::move(ready));
  }
  void on_finished(NodeId node, std::uint32_t, const std::vector<LastAnswer>& answers) override {
    control::FinishedT finished;
    finished.node = node;
    for (const LastAnswer& one : answers) {
      finished.callees.push_back(one.callee);
      finished.incarnations.push_back(one.incarnation);
    }
    tell(std::move(finished));
  }
  void on_failed(NodeId node, std::uint32_t, const Error& error) override { fail(node, error); }
  void on_stop_requested(NodeId node, const std::string& reason) override {
    control::StopRequestedT stop;
    stop.node = node;
    stop.reason = reason;
    tell(std::move(stop));
  }
  void on_progress(NodeId node, const Progress& progress) override {
    control::ProgressMadeT made;
    made.node = node;
    made.step = progress.step;
    made.total = progress.total;
    for (const auto& [name, value] : progress.values) {
      auto& entry = made.values.emplace_back(std::make_unique<control::ValueT>());
      entry->name = name;
      entry->value = value;
    }
    tell(std::move(made));
  }
  void on_saved(NodeId node, std::uint64_t step) override {
    if (sends_cuts_ && !send_cut(node, step)) return;
    control::SavedT saved;
    saved.node = node;
    saved.step = step;
    tell(std::move(saved));
  }
  void on_not_saved(NodeId node, std::uint64_t step, const Error& error) override {
    control::NotSavedT not_saved;
    not_saved.node = node;
    not_saved.step = step;
    not_saved.text = error.what();
    tell(std::move(not_saved));
  }

 private:
  template <class Body>
  void tell(Body body) {
    loop_.post([this, bytes = pack(unit_, incarnation_, std::move(body))] { control_.send(bytes); });
  }

  // Sends a saved file to the launcher, which shares no file system with this host.
  bool send_cut(NodeId node, std::uint64_t step) {
    const std::string& name = program_->nodes()[node].name;
    try {
      const std::filesystem::path file = cut_file(cut_directory(directory_, step), name);
      auto pieces =
          pieces_of(file, {.unit = unit_, .incarnation = incarnation_, .node = node, .name = name, .step = step});
      std::error_code ignored;
      std::filesystem::remove(file, ignored);
      loop_.post([this, pieces = std::move(pieces)]() mutable { control_.send_all(std::move(pieces)); });
      return true;
    } catch (const Error& error) {
      on_not_saved(node, step, error);
      return false;
    }
  }

  void fail(NodeId node, const Error& error) {
    control::FailedT failed;
    failed.node = node;
    failed.kind = static_cast<std::uint8_t>(error.kind());
    failed.text = error.text();
    failed.type = error.origin().type;
    failed.where = error.node();
    failed.method = error.method();
    failed.path = error.path();
    failed.may_have_run = error.may_have_run();
    // Writes it into the node's log, too. A stop is no failure of the node.
    if (error.kind() != ErrorKind::stopped) std::fprintf(stderr, "%s\n", error.what());
    loop_.post(
        [this, bytes = pack(unit_, incarnation_, std::move(failed)), stopped = error.kind() == ErrorKind::stopped] {
          failed_ = failed_ || !(stopped && stopping_);
          control_.send(bytes);
        });
  }

  // Stays until all processes that stop too know of the stop, so that none of their calls fails because this process
  // has ended.
  void stay() {
    for (const Time end = after(kStay); !may_leave_ && now() < end;) {
      loop_.wait(end);
      loop_.dispatch();
      loop_.want_writable(control_.fd(), control_.pending() > 0);
    }
  }

  void hear() {
    std::string fault;
    if (control_.receive([this](auto bytes) { obey(bytes); }, fault)) return;
    // The agent has ended, so no process can receive a report of this one.
    kill(0, SIGKILL);
  }

  void obey(std::span<const std::uint8_t> bytes) {
    const control::Message* message = unpack(bytes);
    if (message == nullptr) {
      std::fprintf(stderr, "lp: the agent sent what is no control message; this process ends\n");
      kill(0, SIGKILL);
    } else if (const auto* start = message->body_as_Start()) {
      unit_ = message->unit();
      incarnation_ = message->incarnation();
      begin(*start);
    } else if (!runtime_) {
      return;
    } else if (const auto* update = message->body_as_Update()) {
      hear_of_peers(*update);
    } else if (const auto* run = message->body_as_RunNode()) {
      if (is_here(run->node())) runtime_->run(run->node());
    } else if (const auto* may_save = message->body_as_MaySave()) {
      if (is_here(may_save->node())) runtime_->may_save(may_save->node());
    } else if (const auto* stop = message->body_as_Stop()) {
      if (stop->run_ends()) runtime_->end_run();
      end(text_of(stop->reason()));
    } else if (message->body_as_Measure() != nullptr) {
      control_.send(pack(unit_, incarnation_, pack_calls(measurement_of(runtime_->calls()))));
    } else if (message->body_as_Leave() != nullptr) {
      may_leave_ = true;
    } else if (const auto* probe = message->body_as_Probe(); probe != nullptr && is_here(probe->node())) {
      if (const auto work = runtime_->work(probe->node())) {
        control::BusyT busy;
        busy.node = probe->node();
        busy.work = work->text;
        busy.age = work->age.count();
        tell(std::move(busy));
      }
      runtime_->probe(probe->node(), [this, node = probe->node()] {
        control::AliveT alive;
        alive.node = node;
        tell(std::move(alive));
      });
    }
  }

  bool is_here(NodeId node) const { return std::find(nodes_.begin(), nodes_.end(), node) != nodes_.end(); }

  void begin(const control::Start& start) {
    if (start.nodes() != nullptr) nodes_.assign(start.nodes()->begin(), start.nodes()->end());
    const NodeId first = nodes_.empty() ? 0 : nodes_.front();
    try {
      program_.emplace(programs_.build(text_of(start.entry()), text_of(start.configuration())));
      if (program_->fingerprint() != start.fingerprint()) {
        throw Error(
            ErrorKind::failed,
            "this process has built another graph than its launcher: either make_program is not a pure function of "
            "its configuration, or the program '" +
                text_of(start.entry()) + "' is not the one that was launched");
      }
      Runtime::Options options{
          .run = text_of(start.run()), .seed = start.seed(), .directory = text_of(start.directory())};
      directory_ = options.directory;
      sends_cuts_ = start.sends_cuts();
      options.network = true;
      options.token = text_of(start.token());
      options.serialize = start.serialize();
      options.patient = start.patient();
      options.deadline = Duration(start.deadline());
      options.keep_checkpoints = start.keep_checkpoints();
      options.path = start.path() <= static_cast<std::uint8_t>(Path::tcp) ? static_cast<Path>(start.path()) : Path();
      options.shared_memory = start.shared_memory();
      options.listen = text_of(start.listen());
      options.keys = {.public_key = text_of(start.public_key()), .secret_key = text_of(start.secret_key())};
      options.outside_key = text_of(start.outside_key());
      runtime_ = std::make_unique<Runtime>(*program_, std::move(options), *this);
      for (const NodeId node : nodes_) runtime_->start(node, incarnation_, text_of(start.cut()));
    } catch (...) {
      fail(first, as_error(std::current_exception()));
      loop_.post([this] { done_ = true; });
    }
  }

  void hear_of_peers(const control::Update& update) {
    std::vector<PeerState> peers;
    if (update.peers() == nullptr) return;
    for (const auto* peer : *update.peers()) {
      if (peer->node() >= program_->nodes().size()) continue;
      peers.push_back({.node = peer->node(),
                       .incarnation = peer->incarnation(),
                       .endpoint = text_of(peer->endpoint()),
                       .key = text_of(peer->key()),
                       .gone = peer->gone(),
                       .text = text_of(peer->text()),
                       .epoch = peer->epoch()});
    }
    runtime_->update(peers);
  }

  // Ends the nodes and waits for them without a limit: the coordinator kills the process after its grace period.
  void end(const std::string& reason) {
    if (std::exchange(stopping_, true)) return;
    for (const NodeId node : nodes_) runtime_->stop(node, reason);
    tell(control::StoppingT());
    try {
      ender_ = spawn("ender", [this] {
        for (const NodeId node : nodes_) runtime_->join(node, kNever);
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
  std::vector<NodeId> nodes_;
  std::filesystem::path directory_;
  bool sends_cuts_ = false;
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
  return NodeProcess(control, programs).serve();
}

}  // namespace lp::internal

#include "programs/training/worker.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/scheduler.h"
#include "lp/base/text.h"
#include "programs/training/sampler.h"

namespace lp {
namespace {

// The first pause between attempts to begin again while servers are being restored. It doubles; the worker gives up
// after kMostAttempts.
constexpr Duration kFirstPause = std::chrono::milliseconds(10);
constexpr int kMostAttempts = 12;  // 40 seconds

constexpr Duration kReportEvery = std::chrono::milliseconds(100);

// Returns the number by which the root servers know a worker: its own, or that of the node of a tree through which its
// gradients come.
std::uint32_t pusher(const Scheme& scheme, std::uint32_t worker) {
  for (const int nodes : scheme.levels) worker %= static_cast<std::uint32_t>(nodes);
  return worker;
}

// Counts a worker's work, and reports its progress from time to time.
class Meter {
 public:
  Meter(Context& node, const Sampler& sampler, const ServerTraining& training)
      : node_(node), sampler_(sampler), training_(training) {}

  const WorkerStatistics& statistics() const { return statistics_; }

  // `training_step` is the step of the whole training, and `loss` a mean, if there are examples. Returns whether it is
  // time to report.
  bool step_done(std::uint64_t step, std::uint64_t training_step, double loss, std::uint32_t examples,
                 Duration computing) {
    ++statistics_.steps;
    statistics_.examples += examples;
    if (examples != 0) statistics_.loss = loss;
    computing_ += computing;
    const Duration passed = now() - reported_;
    if (passed < kReportEvery && step + 1 < sampler_.steps()) return false;
    statistics_.seconds = to_seconds(now() - began_);
    statistics_.idle_seconds = statistics_.seconds - to_seconds(computing_);
    if (node_.index() == 0 && examples != 0) {
      const auto done = static_cast<double>((statistics_.examples - reported_examples_) *
                                            static_cast<std::uint64_t>(node_.replicas()));
      node_.report({.step = training_step + 1,
                    .total = training_.steps,
                    .values = {{"loss", loss}, {"examples/s", done / to_seconds(passed)}}});
    }
    reported_ = now();
    reported_examples_ = statistics_.examples;
    return true;
  }

 private:
  Context& node_;
  const Sampler& sampler_;
  const ServerTraining& training_;
  WorkerStatistics statistics_{};
  Duration computing_{};
  const Time began_ = now();
  Time reported_ = began_;
  std::uint64_t reported_examples_ = 0;
};

}  // namespace

TrainingWorker::TrainingWorker(Clients<ParameterService> servers, Clients<ParameterService> roots,
                               std::vector<Tensor> tensors, LearningTask task, ServerTraining training, Scheme scheme)
    : servers_(std::move(servers)),
      roots_(std::move(roots)),
      tensors_(std::move(tensors)),
      task_(std::move(task)),
      training_(training),
      scheme_(std::move(scheme)) {}

Future<Parameters> TrainingWorker::learned() {
  if (!ended_) {
    Future<void> end = waiting_.emplace_back().future();
    co_await end;
  }
  co_return result_ ? result_() : Parameters();
}

void TrainingWorker::run(Context& node) {
  try {
    train(node);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::stopped) end(node);  // the program was stopped, and may ask for the result
    throw;
  }
  end(node);
}

void TrainingWorker::end(Context& node) {
  node.exclusive([this] {
    ended_ = true;
    for (Promise<void>& one : std::exchange(waiting_, {})) one.set_value();
  });
}

void TrainingWorker::train(Context& node) {
  const std::unique_ptr<Model> model = task_.model();
  Sampler sampler(node, task_, training_, scheme_);
  const CompressionOptions compression = compression_of(training_, scheme_);
  // The residuals are those of all rows, so that all rows are pushed with compression.
  const bool takes_rows = scheme_.takes_rows && !compression.any();
  ParameterClient client(servers_, tensors_,
                         {.worker = static_cast<std::uint32_t>(node.index()),
                          .replicated = training_.replicated,
                          .compression = compression,
                          .bad_values = training_.bad_values,
                          .seed = node.seed()});
  const std::unique_ptr<Exchange> exchange =
      scheme_.exchange({client, *model, training_, node.program_seed(), static_cast<std::uint32_t>(node.index()),
                        sampler.examples(), sampler.own_examples(), sampler.round_steps()});
  begin(client, *exchange);

  Meter meter(node, sampler, training_);
  const auto publish = [&] {
    WorkerStatistics statistics = meter.statistics();
    statistics.dropped = exchange->dropped();
    const Traffic own = exchange->traffic();
    statistics.bytes_sent = client.traffic().sent + own.sent;
    statistics.bytes_received = client.traffic().received + own.received;
    node.exclusive([&] { statistics_ = statistics; });
  };

  BatchGradient computed;
  int attempts = 0;
  for (Duration pause = kFirstPause;; pause *= 2) {
    try {
      std::uint64_t step = exchange->begin();
      reached(node, step);
      std::optional<Position> position = exchange->position();
      while (const std::optional<Dataset> batch = task_.data ? sampler.batch(step, position) : fed_batch(node, step)) {
        const Rows rows = takes_rows ? model->rows(*batch) : Rows();
        const Eigen::VectorXf& parameters = exchange->parameters(step, rows);
        const Time start = now();
        computed.loss = model->loss(parameters, *batch, computed.gradient);
        computed.examples = static_cast<std::uint32_t>(batch->examples());
        const Duration computing = now() - start;
        const std::uint64_t next = exchange->push(step, rows, computed);
        const double loss = exchange->loss().value_or(computed.loss / std::max(computed.examples, 1U));
        if (meter.step_done(step, sampler.training_step(step, position), loss, computed.examples, computing)) publish();
        reached(node, step = next);
        position = exchange->position();
        attempts = 0;
        pause = kFirstPause;
      }
      exchange->end();
      client.confirm(roots_, pusher(scheme_, static_cast<std::uint32_t>(node.index())));
      publish();
      std::function<Parameters()> result = exchange->result();
      node.exclusive([&] { result_ = std::move(result); });
      return;
    } catch (const Unrecoverable& error) {
      return node.fail_program(error.text());
    } catch (const Error& error) {
      // A server was restarted, alone or with all others: go on from where the servers are now.
      if (error.kind() != ErrorKind::disconnected || ++attempts == kMostAttempts) throw;
    }
    if (!node.wait_for(pause)) return;
  }
}

std::optional<Dataset> TrainingWorker::fed_batch(Context& node, std::uint64_t step) {
  Future<std::optional<Dataset>> batch = node.exclusive([&] { return feed_.take(step); });
  if (auto taken = batch.get_for(Duration(kFeedTime))) return *std::move(taken);
  throw Error(ErrorKind::failed, "the batch of step " + std::to_string(step) + " did not arrive from a feeder within " +
                                     duration_text(kFeedTime) +
                                     ": does this worker have a feeder, and does the feeder run?");
}

void SavedWorker::begin(ParameterClient& client, Exchange& exchange) {
  client_ = &client;
  exchange_ = &exchange;
  if (loaded_.empty()) return;
  client.restore(loaded_.get<std::vector<Array<float>>>("residuals"));
  exchange.load(loaded_);
}

// A cut is taken where the servers take one: every checkpoint_every updates, and after the last.
void SavedWorker::reached(Context& node, std::uint64_t step) {
  const std::uint64_t last = training().steps;
  const std::uint64_t every = training().checkpoint_every;
  for (;;) {
    const std::uint64_t due = every == 0 ? last : std::min(last, (step_ / every + 1) * every);
    if (due <= step_ || due > step) return;
    step_ = due;
    node.checkpoint(due);
  }
}

void SavedWorker::save(Checkpoint& out) const {
  out.put("step", step_);
  out.put("residuals", client_->residuals());
  exchange_->save(out);
}

void SavedWorker::load(const Checkpoint& in) {
  step_ = in.get<std::uint64_t>("step");
  loaded_ = in;
}

template const NodeType& internal::node_type<TrainingWorker>();

}  // namespace lp

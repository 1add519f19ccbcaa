#include "programs/schemes/pipeline.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/scheduler.h"
#include "programs/training/decentralized.h"
#include "programs/training/rows.h"

namespace lp {
namespace {

std::uint64_t bytes_of(const Eigen::MatrixXf& matrix) {
  return static_cast<std::uint64_t>(matrix.size()) * sizeof(float);
}

// The layers of a stage. The numbers of layers differ by one at most.
struct LayerRange {
  std::size_t first;
  std::size_t last;  // excluded
};
LayerRange layers_of(const Pipeline& pipeline, std::size_t stage) {
  const std::size_t layers = pipeline.units.size() - 1;
  const auto stages = static_cast<std::size_t>(pipeline.stages);
  return {layers * stage / stages, layers * (stage + 1) / stages};
}
MlpLayers stage_layers(const Pipeline& pipeline, std::size_t stage) {
  const auto [first, last] = layers_of(pipeline, stage);
  const auto begin = pipeline.units.begin() + static_cast<std::ptrdiff_t>(first);
  const auto end = pipeline.units.begin() + static_cast<std::ptrdiff_t>(last) + 1;
  return MlpLayers(std::vector<Eigen::Index>(begin, end), pipeline.activation, first == 0,
                   last + 1 == pipeline.units.size());
}
// Where a stage's parameters begin among those of all.
Eigen::Index offset_of(const Pipeline& pipeline, std::size_t stage) {
  Eigen::Index out = 0;
  for (std::size_t before = 0; before < stage; ++before) out += stage_layers(pipeline, before).size();
  return out;
}

// A model whose loss the stages compute; they keep the gradient.
class PipelinedModel final : public Model {
 public:
  PipelinedModel(std::unique_ptr<Model> whole, Clients<PipelineStage> stages, std::uint32_t micro_batches)
      : whole_(std::move(whole)), stages_(std::move(stages)), micro_batches_(micro_batches) {}

  Eigen::Index size() const override { return whole_->size(); }
  Eigen::VectorXf initialize(std::uint64_t seed) const override { return whole_->initialize(seed); }
  Eigen::MatrixXf scores(const Eigen::VectorXf& parameters, const Eigen::MatrixXf& features) const override {
    return whole_->scores(parameters, features);
  }
  double loss(const Eigen::VectorXf&, const Dataset& batch, Eigen::VectorXf&) const override {
    std::vector<Future<MicroResult>> futures;
    const auto examples = static_cast<std::uint64_t>(batch.examples());
    for (std::uint64_t k = 0; k < micro_batches_; ++k) {
      const auto begin = static_cast<Eigen::Index>(examples * k / micro_batches_);
      const auto count = static_cast<Eigen::Index>(examples * (k + 1) / micro_batches_) - begin;
      if (count == 0) continue;  // there are more micro-batches than examples
      futures.push_back(
          stages_[0].async<&PipelineStage::pass>(MicroBatch{.number = static_cast<std::uint32_t>(futures.size()),
                                                            .inputs = batch.features.middleCols(begin, count),
                                                            .labels = batch.labels.segment(begin, count)}));
    }
    double loss = 0;
    for (const MicroResult& one : when_all(std::move(futures)).get()) loss += one.loss;
    return loss;
  }

 private:
  const std::unique_ptr<Model> whole_;
  const Clients<PipelineStage> stages_;
  const std::uint32_t micro_batches_;
};

class PipelineExchange final : public Exchange {
 public:
  explicit PipelineExchange(Clients<PipelineStage> stages) : stages_(std::move(stages)) {}

  std::uint64_t begin() override {
    const std::vector<std::uint64_t> done = stages_.all<&PipelineStage::steps>();
    // If a worker died in the middle of an update, some stages have not done it.
    stages_.all<&PipelineStage::catch_up>(*std::max_element(done.begin(), done.end()));
    const std::vector<std::uint64_t> steps = stages_.all<&PipelineStage::begin>();
    if (std::adjacent_find(steps.begin(), steps.end(), std::not_equal_to<>()) != steps.end()) {
      throw Error(ErrorKind::disconnected, "the stages are at different steps: they are being restored");
    }
    return steps[0];
  }
  const Eigen::VectorXf& parameters(std::uint64_t, const Rows&) override { return none_; }
  std::uint64_t push(std::uint64_t step, const Rows&, const BatchGradient& batch) override {
    stages_.all<&PipelineStage::update>(step, batch.examples);
    return step + 1;
  }
  std::function<Parameters()> result() const override {
    return [stages = stages_] {
      std::vector<float> out;
      for (const Eigen::VectorXf& one : stages.all<&PipelineStage::parameters>()) {
        out.insert(out.end(), one.begin(), one.end());
      }
      return Parameters{.step = stages[0].call<&PipelineStage::steps>(),
                        .values = Eigen::Map<const Eigen::VectorXf>(out.data(), static_cast<Eigen::Index>(out.size()))};
    };
  }

 private:
  const Clients<PipelineStage> stages_;
  const Eigen::VectorXf none_{};  // the stages have them
};

// The task of the one worker, which issues every step: the stages compute for it.
struct PipelinedTask {
  LearningTask task;
  GroupHandle<PipelineStage> stages;
  std::uint32_t micro_batches;

  LearningTask dereference(Context& worker) const {
    return {.model = [whole = task.model, all = stages.dereference(worker),
                      count = micro_batches] { return std::make_unique<PipelinedModel>(whole(), all, count); },
            .data = task.data};
  }
  void append_nodes(std::vector<std::string>& names) const { stages.append_nodes(names); }
};

}  // namespace

class PipelineStage::Work {
 public:
  explicit Work(Duration& busy) : busy_(busy) {}
  ~Work() { busy_ += now() - began_; }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

 private:
  Duration& busy_;
  const Time began_ = now();
};

PipelineStage::PipelineStage(Context& node, Clients<PipelineStage> stages, const Pipeline& pipeline,
                             const ServerTraining& training, const LearningTask& task)
    : context_(node),
      stages_(std::move(stages)),
      index_(static_cast<std::size_t>(node.index())),
      layers_(stage_layers(pipeline, index_)),
      micro_batches_(pipeline.micro_batches),
      schedule_{.every = training.checkpoint_every, .last = training.steps},
      guard_(training.bad_values, static_cast<std::uint32_t>(node.index())),
      parameters_(task.model()->initialize(node.program_seed()).segment(offset_of(pipeline, index_), layers_.size())),
      optimizer_{.rule = training.rule} {}

Future<MicroResult> PipelineStage::pass(MicroBatch batch) {
  if (is_last()) {
    Future<MicroResult> back = work_.add([this, batch = std::move(batch)]() mutable {
      const Forwarded done = forward(std::move(batch));
      const Work work(busy_);
      Eigen::MatrixXf delta = done.outputs.back();
      const double loss = softmax_cross_entropy(delta, done.batch.labels);
      return backward(done, loss, std::move(delta));
    });
    co_return co_await back;
  }
  Future<Forwarded> forwarded =
      work_.add([this, batch = std::move(batch)]() mutable { return forward(std::move(batch)); });
  Forwarded done = co_await forwarded;
  MicroBatch on{.number = done.batch.number, .inputs = done.outputs.back(), .labels = done.batch.labels};
  Future<MicroResult> answer = stages_[index_ + 1].async<&PipelineStage::pass>(std::move(on));
  MicroResult result = co_await answer;
  Future<MicroResult> back = work_.add([this, done = std::move(done), result = std::move(result)]() mutable {
    if (done.attempt == attempt_) --in_flight_;
    const Work work(busy_);
    return backward(done, result.loss, std::move(result.delta));
  });
  co_return co_await back;
}

PipelineStage::Forwarded PipelineStage::forward(MicroBatch batch) {
  if (in_flight_ == 0 && gradients_.empty()) began_ = now();
  const Work work(busy_);
  if (batch.inputs.cols() != batch.labels.size() || batch.inputs.cols() == 0) {
    throw Error(ErrorKind::failed, "a micro-batch of " + std::to_string(batch.inputs.cols()) + " examples and " +
                                       std::to_string(batch.labels.size()) + " labels");
  }
  if (batch.number >= micro_batches_) {
    throw Error(ErrorKind::failed, "micro-batch " + std::to_string(batch.number) + " of a batch that is split into " +
                                       std::to_string(micro_batches_));
  }
  Forwarded done{.outputs = layers_.forward(parameters_, batch.inputs), .attempt = attempt_};
  done.batch = std::move(batch);
  ++statistics_.micro_batches;
  if (is_last()) return done;
  statistics_.most_in_flight = std::max(statistics_.most_in_flight, ++in_flight_);
  statistics_.bytes_sent += bytes_of(done.outputs.back());
  return done;
}

MicroResult PipelineStage::backward(const Forwarded& done, double loss, Eigen::MatrixXf delta) {
  if (done.attempt != attempt_) throw Error(ErrorKind::disconnected, "the batch was restarted meanwhile");
  if (gradients_.size() <= done.batch.number) gradients_.resize(done.batch.number + 1);
  examples_ += static_cast<std::uint32_t>(done.batch.labels.size());
  MicroResult out{.loss = loss,
                  .delta = layers_.backward(parameters_, done.batch.inputs, done.outputs, std::move(delta),
                                            gradients_[done.batch.number])};
  statistics_.bytes_sent += bytes_of(out.delta);
  return out;
}

Future<void> PipelineStage::update(std::uint64_t step, std::uint32_t examples) {
  return work_.add([this, step, examples] { descend_by_all(step, examples); });
}

void PipelineStage::descend_by_all(std::uint64_t step, std::uint32_t examples) {
  if (step < step_) return;
  // A stage that was restored meanwhile has not seen all of the batch, or has the parameters of an older step.
  const bool whole = !gradients_.empty() && std::all_of(gradients_.begin(), gradients_.end(),
                                                        [](const Eigen::VectorXf& one) { return one.size() > 0; });
  if (step > step_ || (examples > 0 && !whole)) {
    throw Error(ErrorKind::disconnected, "the stage was restored in the middle of step " + std::to_string(step));
  }
  {
    const Work work(busy_);
    Eigen::VectorXf sum = Eigen::VectorXf::Zero(layers_.size());
    if (!gradients_.empty()) sum = gradients_[0];
    for (std::size_t k = 1; k < gradients_.size(); ++k) sum += gradients_[k];
    if (examples > 0) descend(optimizer_, parameters_, guard_.checked(step, sum), examples);
  }
  if (!gradients_.empty()) {
    const Duration passed = now() - began_;
    statistics_.seconds += to_seconds(passed);
    statistics_.idle_seconds += to_seconds(passed - std::min(passed, busy_));
  }
  step_ = step + 1;
  begin_again();
  if (schedule_.due(step_)) context_.checkpoint(step_);
}

Future<void> PipelineStage::catch_up(std::uint64_t steps) {
  return work_.add([this, steps] {
    if (step_ + 1 == steps && examples_ > 0) descend_by_all(step_, examples_);
  });
}

Future<std::uint64_t> PipelineStage::begin() {
  return work_.add([this] { return begin_again(); });
}
Future<std::uint64_t> PipelineStage::steps() {
  return work_.add([this] { return step_; });
}
Future<Eigen::VectorXf> PipelineStage::parameters() {
  return work_.add([this] { return parameters_; });
}
Future<StageStatistics> PipelineStage::statistics() {
  return work_.add([this] { return statistics_; });
}

std::uint64_t PipelineStage::begin_again() {
  ++attempt_;
  gradients_.clear();
  examples_ = 0;
  in_flight_ = 0;
  busy_ = {};
  return step_;
}

void PipelineStage::save(Checkpoint& out) const {
  out.put("step", step_);
  out.put("parameters", Array<float>::copy_of(flat(parameters_)));
  out.put("optimizer", optimizer_);
}

void PipelineStage::load(const Checkpoint& in) {
  const auto parameters = in.get<Array<float>>("parameters");
  if (parameters.size() != static_cast<std::size_t>(layers_.size())) {
    throw Error(ErrorKind::failed, "the checkpoint has " + std::to_string(parameters.size()) +
                                       " parameters, but this stage's layers have " + std::to_string(layers_.size()));
  }
  schedule_.cut = step_ = in.get<std::uint64_t>("step");
  std::copy(parameters.begin(), parameters.end(), parameters_.data());
  optimizer_ = in.get<Optimizer>("optimizer");
}

TrainingGraph add_pipeline_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                    const Pipeline& pipeline) {
  if (pipeline.stages < 1 || pipeline.units.size() < static_cast<std::size_t>(pipeline.stages) + 1 ||
      pipeline.micro_batches == 0) {
    throw Error(ErrorKind::failed,
                "a pipeline has " + std::to_string(pipeline.stages) + " stages for " +
                    std::to_string(pipeline.units.size()) + " layers of units, and " +
                    std::to_string(pipeline.micro_batches) +
                    " micro-batches: give at least one of each, and fewer stages than layers of units");
  }
  const FailurePolicy policy = restart_or_stop(training);
  const auto stages = program.declare_group<PipelineStage>(
      {.name = "stage", .replicas = pipeline.stages, .on_failure = policy, .device = task.device});
  program.define(stages, context, stages, pipeline, training, task);
  const GroupHandle<ParameterServer> servers("server", 0);
  const BoundScheme<GroupHandle<PipelineStage>> scheme{
      .nodes = stages, .exchange = [](const ExchangeParts&, const Clients<PipelineStage>& all) {
        return std::make_unique<PipelineExchange>(all);
      }};
  const GroupHandle<ParameterService> none(servers);
  const auto workers = program.group<TrainingWorker>(
      {.name = "worker", .on_failure = policy, .ends_program = true}, none, none, std::vector<Tensor>(),
      PipelinedTask{task, stages, pipeline.micro_batches}, training, scheme);
  return {servers, workers};
}

template const NodeType& internal::node_type<PipelineStage>();

}  // namespace lp

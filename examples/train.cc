// Trains a classifier with one of the schemes that well-known systems use, chosen by name.
//
//   build/examples/train --list
//   build/examples/train --scheme=stale_synchronous --staleness=3 --workers=4 --servers=2 --launch=processes
//   build/examples/train --scheme=ring --data=mine.csv --scale --save=mine.lpm
//   build/examples/train --evaluate=mine.lpm --data=other.csv

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launchers/main.h"
#include "lp/base/error.h"
#include "lp/base/file.h"
#include "lp/base/json.h"
#include "lp/config/parse_flags.h"
#include "lp/lp.h"
#include "nodes/checkpointer.h"
#include "nodes/evaluator.h"
#include "nodes/lost_files.h"
#include "nodes/metrics.h"
#include "nodes/parameters/federated_server.h"
#include "programs/data/output_files.h"
#include "programs/models/kept_model.h"
#include "programs/schemes.h"
#include "programs/schemes/pipeline.h"
#include "programs/training/evaluation.h"
#include "programs/training/worker.h"

struct Result {
  double accuracy = 0;
  double loss = 0;
  std::uint64_t updates = 0;
  std::optional<std::uint64_t> gradients{};  // gradients that were applied, over all servers; empty: there are none
  std::uint64_t dropped = 0;
  double mean_staleness = 0;               // updates between the parameters of a gradient and its application
  std::vector<std::uint64_t> staleness{};  // gradients by staleness
  std::uint64_t bytes_sent = 0;            // by the workers: keys and values
  std::uint64_t bytes_received = 0;
  double idle_share = 0;    // share of the workers' time
  std::uint64_t looks = 0;  // at the test accuracy, while it was trained
  std::string snapshot{};   // the last file with parameters
  std::string parameters_hash{};
  std::string saved{};  // the file with the model
};

// The statistics of the nodes. Nodes that are gone are left out.
Result statistics_of(const lp::Clients<lp::ParameterServer>& servers, const lp::Clients<lp::TrainingWorker>& workers) {
  Result out;
  lp::ShardStatistics shards;
  for (const auto& one : servers.outcomes<&lp::ParameterServer::statistics>()) {
    if (one) shards.add(one.value().shards);
  }
  double seconds = 0;
  double idle = 0;
  for (const auto& one : workers.outcomes<&lp::TrainingWorker::statistics>()) {
    if (!one) continue;
    out.bytes_sent += one.value().bytes_sent;
    out.bytes_received += one.value().bytes_received;
    seconds += one.value().seconds;
    idle += one.value().idle_seconds;
  }
  if (servers.size() > 0) out.gradients = shards.applied;
  out.dropped = shards.dropped;
  out.mean_staleness = shards.mean_staleness();
  out.staleness = shards.staleness;
  while (!out.staleness.empty() && out.staleness.back() == 0) out.staleness.pop_back();
  out.idle_share = seconds > 0 ? idle / seconds : 0;
  return out;
}

// The statistics of the rounds of federated training.
void add_rounds(const lp::RoundsStatistics& rounds, Result& result) {
  result.updates = rounds.rounds;
  result.gradients = rounds.contributions;
  result.dropped = rounds.late;
}

// The statistics of the stages of a pipeline; their idle share is the pipeline's bubble.
void add_stages(const std::vector<lp::StageStatistics>& stages, Result& result) {
  double seconds = 0;
  double idle = 0;
  for (const lp::StageStatistics& one : stages) {
    result.bytes_sent += one.bytes_sent;
    seconds += one.seconds;
    idle += one.idle_seconds;
  }
  result.idle_share = seconds > 0 ? idle / seconds : 0;
}

// The values that the evaluator has reported; their times begin with the first look.
lp::MetricSeries series_of(const lp::NodeCurves& curves) {
  lp::MetricSeries out;
  double first = 0;
  if (const auto loss = curves.find("loss"); loss != curves.end()) first = loss->second.front().time;
  for (const auto& [name, points] : curves) {
    for (const lp::SavedPoint& one : points) {
      out[name].push_back({.step = one.step, .seconds = one.time - first, .value = one.value});
    }
  }
  return out;
}

// The results of the looks during the training: all in a file, and at most eleven on standard output, with the last.
void add_looks(const lp::MetricSeries& series, const std::string& file, Result& result, lp::LostFiles& lost) {
  if (!series.contains("loss")) return;  // the training ended before the first look
  const std::vector<lp::MetricPoint>& losses = series.at("loss");
  const std::vector<lp::MetricPoint>& accuracies = series.at("accuracy");
  result.looks = losses.size();
  std::printf("   seconds   updates      loss  accuracy\n");
  const std::size_t skip = (losses.size() + 9) / 10;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (i % skip != 0 && i + 1 != losses.size()) continue;
    std::printf("%10.1f%10llu%10.3f%9.1f%%\n", losses[i].seconds, static_cast<unsigned long long>(losses[i].step),
                losses[i].value, 100 * accuracies[i].value);
  }
  std::printf("\n");
  if (!file.empty()) lost.keep("the curves", [&] { lp::write_file_durably(file, lp::to_csv(series)); });
}

// Has no clients if the scheme has no such group.
template <class S>
lp::Clients<S> clients_of(std::string_view group, lp::Run& run) {
  return run.program().find_group(group) == nullptr ? lp::Clients<S>({}) : run.clients<S>(group);
}

// Saves the model. If the file cannot be written, it saves the model in the run's directory, and the error names that
// file.
std::string save(const lp::KeptModel& model, const std::string& file, const lp::Run& run) {
  try {
    lp::write_model(model, file);
    return file;
  } catch (const lp::Error& error) {
    if (!model.parameters.allFinite()) throw;  // nobody could use it
    const std::string other = run.directory() / "model.lpm";
    try {
      lp::write_model(model, other);
    } catch (const lp::Error& another) {
      lp::throw_failed(std::string(error.what()) +
                       "; nor in the run's directory, so the model is lost: " + another.what());
    }
    lp::throw_failed(std::string(error.what()) + "; the model is saved in " + other);
  }
}

void hint_at_scaling(const lp::TrainingData& data) {
  constexpr float kLarge = 20;  // beyond it, a unit's sum is where the activation is flat
  if (!data.scaling.empty() || data.train.features.size() == 0) return;
  if (const float largest = data.train.features.cwiseAbs().maxCoeff(); largest > kLarge) {
    std::fprintf(stderr, "some features are as large as %g: --scale may help the training\n",
                 static_cast<double>(largest));
  }
}

// The parameters that reached --target in an evaluation: the workers go on until they are stopped.
std::optional<lp::Parameters> reached_target(lp::Run& run) {
  if (run.program().find_group("evaluator") == nullptr) return std::nullopt;
  return run.client<lp::Evaluator>("evaluator").call<&lp::Evaluator::reached>();
}

Result report(lp::Run& run, const lp::TrainConfig& config) {
  const auto servers = clients_of<lp::ParameterServer>("server", run);
  const auto workers = clients_of<lp::TrainingWorker>("worker", run);
  Result result = statistics_of(servers, workers);
  lp::LostFiles lost;
  const std::unique_ptr<lp::Model> model = lp::model_of(config);
  const std::optional<lp::Parameters> reached = reached_target(run);
  const lp::Parameters parameters = reached ? *reached : lp::trained_parameters(servers, workers, model->size());
  const lp::TrainingData data = lp::data_of(config, run.seed());
  const lp::Evaluation test = lp::evaluate(*model, parameters.values, data.test);
  hint_at_scaling(data);
  std::printf("%s\n", lp::confusion_table(test.confusion, data.test.names).c_str());
  result.accuracy = test.accuracy;
  result.loss = test.loss;
  result.updates = parameters.step;
  if (parameters.step > config.steps) {
    std::fprintf(stderr, "the model had already %llu updates, more than --steps=%llu: it was not trained further\n",
                 static_cast<unsigned long long>(parameters.step), static_cast<unsigned long long>(config.steps));
  }
  const auto has = [&](std::string_view group) { return run.program().find_group(group) != nullptr; };
  if (has("evaluator")) add_looks(series_of(run.curves("evaluator")), config.curves, result, lost);
  if (has("checkpointer")) {
    const auto checkpointer = run.client<lp::Checkpointer>("checkpointer");
    lost.keep("the last snapshot", [&] { result.snapshot = checkpointer.call<&lp::Checkpointer::save>(); });
  }
  if (has("rounds")) {
    add_rounds(run.client<lp::FederatedServer>("rounds").call<&lp::FederatedServer::statistics>(), result);
  }
  if (has("stage")) {
    add_stages(run.clients<lp::PipelineStage>("stage").all<&lp::PipelineStage::statistics>(), result);
  }
  result.parameters_hash = lp::parameters_hash(parameters.values);
  if (!config.save.empty()) {
    lost.keep("the model",
              [&] { result.saved = save(lp::kept_model(config, run.seed(), parameters), config.save, run); });
  }
  return lp::finish_report(result, lost.text());
}

// Flags of a command that uses a kept model.
struct UseConfig {
  std::string evaluate{};
  std::string predict{};
  std::string data = "digits";
  bool sparse = false;
  std::string predictions{};

  static constexpr auto fields = lp::fields(
      lp::field("evaluate", "print the loss and accuracy of this model, saved with --save, on the data"),
      lp::field("predict",
                "print the class that this model, saved with --save, predicts for each example: one line each; blank "
                "lines of the data do not count"),
      lp::field("data", "as for a training; --predict also takes CSV without labels"),
      lp::field("sparse", "linear: keep the data sparse"),
      lp::field("predictions", "with --predict: write the lines into this file instead of standard output"));
};
struct UseFlags {
  std::string config{};
  bool json = false;

  static constexpr auto fields = lp::fields(lp::field("config", "YAML file with values for these flags"),
                                            lp::field("json", "with --evaluate: print the result as one line of JSON"));
};
struct UseResult {
  double accuracy = 0;
  double loss = 0;
  std::int64_t examples = 0;
};

void check_sparse(const UseConfig& config, const lp::KeptModel& model, const std::string& file) {
  if (!config.sparse || model.kind == lp::ModelKind::linear) return;
  lp::throw_failed("--sparse goes with --model=linear, but " + file + " is " + lp::to_string(model.kind, model.units));
}

void use_model(const UseConfig& config, bool json) {
  if (config.evaluate.empty() && config.predict.empty()) {
    lp::throw_failed("--evaluate and --predict need the file of a model, saved with --save");
  }
  if (!config.evaluate.empty() && !config.predict.empty()) {
    lp::throw_failed("give --evaluate or --predict, not both");
  }
  const lp::Storage storage = config.sparse ? lp::Storage::sparse : lp::Storage::dense;
  if (!config.predict.empty()) {
    lp::check_outputs(std::vector<lp::NamedFile>{{"--predictions", config.predictions}},
                      std::vector<lp::NamedFile>{{"--predict", config.predict}, {"--data", config.data}});
    const lp::KeptModel model = lp::read_model(config.predict);
    check_sparse(config, model, config.predict);
    std::string lines;
    for (const std::string& one : lp::predict(model, lp::examples_for(model, config.data, storage, true))) {
      lines += one + "\n";
    }
    if (!config.predictions.empty()) return lp::write_file_durably(config.predictions, lines);
    std::fwrite(lines.data(), 1, lines.size(), stdout);
    return;
  }
  const lp::KeptModel model = lp::read_model(config.evaluate);
  check_sparse(config, model, config.evaluate);
  const lp::Dataset data = lp::examples_for(model, config.data, storage, false);
  const auto made = lp::make_model(model.kind, model.units, model.activation);
  const lp::Evaluation found = lp::evaluate(*made, model.parameters, data);
  const UseResult result{.accuracy = found.accuracy, .loss = found.loss, .examples = data.examples()};
  if (json) {
    std::printf("%s\n", lp::to_json(result).c_str());
  } else {
    std::printf("%s\naccuracy  %.4f\nloss      %.4f\nexamples  %lld\n",
                lp::confusion_table(found.confusion, model.names).c_str(), result.accuracy, result.loss,
                static_cast<long long>(result.examples));
  }
}

// Throws Error for a flag of the other command, and for one without a value.
void check_use(const UseConfig& config, const UseFlags& flags, const std::vector<std::string>& given) {
  const auto is_given = [&](const char* name) { return std::find(given.begin(), given.end(), name) != given.end(); };
  const std::string wrong = config.evaluate.empty() ? "json" : "predictions";
  if (is_given(wrong.c_str())) {
    lp::throw_failed("--" + wrong + " has no effect with --" + (config.evaluate.empty() ? "predict" : "evaluate"));
  }
  for (const auto& [name, value] : {std::pair("predictions", &config.predictions), {"config", &flags.config}}) {
    if (!value->empty() || !is_given(name)) continue;
    lp::throw_failed("--" + std::string(name) + "= names no file: give one, or leave the flag out");
  }
}

// train --evaluate=FILE and train --predict=FILE, which start no nodes. Returns the exit code.
int use_model(int argc, char** argv) {
  try {
    UseConfig config;
    UseFlags flags;
    const lp::CommandLine line = lp::parse(argc, argv, lp::bind(config), lp::bind(flags));
    if (line.help.empty()) {
      check_use(config, flags, line.given);
      use_model(config, flags.json);
    } else {
      std::printf("%s", line.help.c_str());
    }
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return 0;
    throw lp::Error(lp::ErrorKind::failed, "the result could not be written to standard output");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 2;
  }
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.starts_with("--evaluate=") || word.starts_with("--predict=") || word == "--evaluate" ||
        word == "--predict") {
      return use_model(argc, argv);
    }
    if (word != "--list") continue;
    std::printf("%s", lp::list_of_schemes().c_str());
    return 0;
  }
  lp::SharedExamples examples;  // for the nodes of this host
  return lp::main<lp::TrainConfig>(
      argc, argv, lp::make_training, report,
      [&](lp::TrainConfig& config, const std::string& resumed) { examples = lp::prepare_training(config, resumed); });
}

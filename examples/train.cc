// Trains a classifier with one of the schemes that well-known systems use, chosen by name.
//
//   build/examples/train --list
//   build/examples/train --scheme=stale_synchronous --staleness=3 --workers=4 --servers=2 --launch=processes

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "launchers/main.h"
#include "lp/base/file.h"
#include "lp/lp.h"
#include "nodes/checkpointer.h"
#include "nodes/metrics.h"
#include "nodes/rounds.h"
#include "programs/evaluation.h"
#include "programs/pipeline.h"
#include "programs/schemes.h"
#include "programs/worker.h"

struct Result {
  double accuracy = 0;
  double loss = 0;
  std::uint64_t updates = 0;
  std::uint64_t gradients = 0;  // that were applied, over all servers
  std::uint64_t dropped = 0;
  double mean_staleness = 0;               // updates between the parameters of a gradient and its application
  std::vector<std::uint64_t> staleness{};  // gradients by that
  std::uint64_t bytes_sent = 0;            // by the workers, of keys and values
  std::uint64_t bytes_received = 0;
  double idle_share = 0;    // of the workers' time
  std::uint64_t looks = 0;  // at the test accuracy, while it was trained
  std::string snapshot{};   // the last file with parameters
  std::string parameters_hash{};
};

// What the nodes have done. Those that are gone say nothing.
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
  out.gradients = shards.applied;
  out.dropped = shards.dropped;
  out.mean_staleness = shards.mean_staleness();
  out.staleness = shards.staleness;
  while (!out.staleness.empty() && out.staleness.back() == 0) out.staleness.pop_back();
  out.idle_share = seconds > 0 ? idle / seconds : 0;
  return out;
}

// What the rounds of federated training have done.
void add_rounds(const lp::RoundsStatistics& rounds, Result& result) {
  result.updates = rounds.rounds;
  result.gradients = rounds.contributions;
  result.dropped = rounds.late;
}

// What the stages of a pipeline have done; their idle share is the pipeline's bubble.
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

// Writes a file. When that fails, what was trained is reported all the same.
template <class Write>
void keep(Write write) {
  try {
    write();
  } catch (const lp::Error& error) {
    std::fprintf(stderr, "not kept: %s\n", error.what());
  }
}

// What was found while it was trained: in a file, and at most ten of the looks for people.
void add_looks(const lp::MetricSeries& series, const std::string& file, Result& result) {
  if (!series.contains("loss")) return;  // over before the first look was
  const std::vector<lp::MetricPoint>& losses = series.at("loss");
  const std::vector<lp::MetricPoint>& accuracies = series.at("accuracy");
  result.looks = losses.size();
  std::printf("   seconds   updates      loss  accuracy\n");
  for (std::size_t i = 0, skip = (losses.size() + 9) / 10; i < losses.size(); i += skip) {
    std::printf("%10.1f%10llu%10.3f%9.1f%%\n", losses[i].seconds, static_cast<unsigned long long>(losses[i].step),
                losses[i].value, 100 * accuracies[i].value);
  }
  std::printf("\n");
  if (!file.empty()) keep([&] { lp::write_file_durably(file, lp::to_csv(series)); });
}

int size_of(std::string_view group, const lp::Program& program) {
  for (const lp::GroupSpec& one : program.groups()) {
    if (one.options.name == group) return one.size;
  }
  return 0;
}

Result report(lp::Run& run, const lp::TrainConfig& config) {
  const auto servers = run.client(lp::GroupHandle<lp::ParameterServer>("server", size_of("server", run.program())));
  const auto workers = run.client(lp::GroupHandle<lp::TrainingWorker>("worker", size_of("worker", run.program())));
  Result result = statistics_of(servers, workers);
  const std::unique_ptr<lp::Model> model = lp::model_of(config);
  const lp::Parameters parameters = lp::trained_parameters(servers, workers, model->size());
  const lp::Evaluation test = lp::evaluate(*model, parameters.values, lp::data_of(config, run.seed()).test);
  std::printf("%s\n", lp::confusion_table(test.confusion).c_str());
  result.accuracy = test.accuracy;
  result.loss = test.loss;
  result.updates = parameters.step;
  if (size_of("metrics", run.program()) > 0) {
    add_looks(run.client(lp::Handle<lp::Metrics>("metrics")).call<&lp::Metrics::all>(), config.curves, result);
  }
  if (size_of("checkpointer", run.program()) > 0) {
    const auto checkpointer = run.client(lp::Handle<lp::Checkpointer>("checkpointer"));
    keep([&] { result.snapshot = checkpointer.call<&lp::Checkpointer::save>(); });
  }
  if (size_of("rounds", run.program()) > 0) {
    add_rounds(run.client(lp::Handle<lp::Rounds>("rounds")).call<&lp::Rounds::statistics>(), result);
  }
  if (const int stages = size_of("stage", run.program()); stages > 0) {
    add_stages(run.client(lp::GroupHandle<lp::PipelineStage>("stage", stages)).all<&lp::PipelineStage::statistics>(),
               result);
  }
  result.parameters_hash = lp::parameters_hash(parameters.values);
  return result;
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) != "--list") continue;
    std::printf("%s", lp::list_of_schemes().c_str());
    return 0;
  }
  return lp::main<lp::TrainConfig>(argc, argv, lp::make_training, report);
}

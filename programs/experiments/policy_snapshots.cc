#include "programs/experiments/policy_snapshots.h"

#include <cstdint>
#include <utility>

namespace lp {
namespace {

// Numbers and an array: `lp checkpoint export` writes them for NumPy.
constexpr const char* kSteps = "steps";
constexpr const char* kUpdates = "updates";
constexpr const char* kProgress = "progress";
constexpr const char* kParameters = "parameters";

}  // namespace

PolicySnapshots::PolicySnapshots(Client<ParameterSource> learner, const SnapshotOptions& options)
    : learner_(std::move(learner)), files_(options, "policy", "snapshots") {}

void PolicySnapshots::run(Context& node) {
  save_snapshots(node, files_.options().period, [this] { save(); });
}

std::string PolicySnapshots::save() {
  const Version<Learned> learned = learner_.read<&ParameterSource::learned>();
  if (const auto newest = files_.newest(learned->steps)) return *newest;
  Checkpoint out;
  out.put(kSteps, learned->steps);
  out.put(kUpdates, learned->updates);
  out.put(kProgress, learned->progress);
  out.put(kParameters, learned->parameters);
  return files_.write(out, learned->steps);
}

Learned load_policy(const std::filesystem::path& file) {
  const Checkpoint saved = Checkpoint::read(file);
  return {.steps = saved.get<std::uint64_t>(kSteps),
          .updates = saved.get<std::uint64_t>(kUpdates),
          .progress = saved.get<double>(kProgress),
          .parameters = saved.get<Array<float>>(kParameters)};
}

template const NodeType& internal::node_type<PolicySnapshots>();

}  // namespace lp

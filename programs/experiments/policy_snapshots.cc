#include "programs/experiments/policy_snapshots.h"

#include <utility>

namespace lp {
namespace {

constexpr const char* kEntry = "policy";

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
  out.put(kEntry, *learned);
  return files_.write(out, learned->steps);
}

Learned load_policy(const std::filesystem::path& file) { return Checkpoint::read(file).get<Learned>(kEntry); }

template const NodeType& internal::node_type<PolicySnapshots>();

}  // namespace lp

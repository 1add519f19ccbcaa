#include "programs/experiments/policy_server.h"

#include <memory>
#include <string>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/random.h"

namespace lp {
namespace {

using Eigen::Index;

// Chooses the actions of all requests together.
std::vector<Choice> explore(Policy& policy, const std::vector<Observed>& requests) {
  Index columns = 0;
  for (const Observed& one : requests) columns += one.observations.cols();
  Eigen::MatrixXf observations(requests[0].observations.rows(), columns);
  Index at = 0;
  for (const Observed& one : requests) {
    observations.middleCols(at, one.observations.cols()) = one.observations;
    at += one.observations.cols();
  }
  Random random(requests[0].seed, "explore");
  Choice all;
  policy.explore(observations, random, all);
  std::vector<Choice> choices;
  at = 0;
  for (const Observed& one : requests) {
    const Index copies = one.observations.cols();
    choices.push_back({.actions = all.actions.middleCols(at, copies),
                       .log_probabilities = all.log_probabilities.middleCols(at, copies)});
    at += copies;
  }
  return choices;
}

}  // namespace

PolicyServer::MakeModel exploring(const MakePolicy& make, const MakeEnvironment& environment) {
  return [make, spec = environment()->spec()](const Version<Learned>& learned) {
    const std::shared_ptr<Policy> policy = make(spec);  // shared by the copies of the function
    policy->set(*learned);
    const auto check = [size = spec.observation.size()](const Observed& one) {
      if (one.observations.rows() == size) return;
      throw Error(ErrorKind::failed, "an observation has " + std::to_string(one.observations.rows()) +
                                         " values, but those of this environment have " + std::to_string(size));
    };
    return PolicyService::Model{
        .version = learned->updates,
        .answer = [policy](const std::vector<Observed>& requests) { return explore(*policy, requests); },
        .check = check};
  };
}

template const NodeType& internal::node_type<PolicyServer>();

}  // namespace lp

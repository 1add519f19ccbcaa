#include "programs/experiments/acting.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "lp/base/error.h"
#include "nodes/serving/balancer.h"

namespace lp {
namespace {

class OwnPolicy final : public Acting {
 public:
  OwnPolicy(Client<ParameterSource> learner, std::unique_ptr<Policy> policy)
      : learner_(std::move(learner)), policy_(std::move(policy)) {}

  Segment act(EnvironmentBatch& environments, Random& random, std::size_t steps, std::uint64_t least_updates) override {
    try {
      learned_ = learner_.read<&ParameterSource::learned>();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::disconnected || learned_.number() == 0 || learned_->updates < least_updates) throw;
    }
    policy_->set(*learned_);
    Segment segment = act_out(environments, *policy_, random, steps);
    segment.updates = learned_->updates;
    return segment;
  }

 private:
  const Client<ParameterSource> learner_;
  const std::unique_ptr<Policy> policy_;
  Version<Learned> learned_{};
};

// A policy whose choices servers make.
class AskedPolicy final : public Policy {
 public:
  explicit AskedPolicy(const Clients<PolicyService>& servers) : servers_(servers) {}

  // From now on, by parameters with at least so many updates.
  void begin(std::uint64_t least_updates) {
    least_updates_ = least_updates;
    oldest_ = std::numeric_limits<std::uint64_t>::max();
  }
  std::uint64_t oldest() const { return oldest_; }  // since begin(): the least number of updates that chose

  void set(const Learned&) override {}
  void explore(const Eigen::MatrixXf& observations, Random& random, Choice& out) override {
    Answer<Choice> answer = ask({.observations = observations, .seed = random()});
    oldest_ = std::min(oldest_, answer.version);
    out = std::move(answer.value);
  }
  void exploit(const Eigen::MatrixXf&, Eigen::MatrixXf&) override {
    throw Error(ErrorKind::failed,
                "inference servers choose actions with exploration for actors; an evaluator needs its own policy");
  }

 private:
  // A question that is lost with its server is asked again: the call waits until the server is back.
  Answer<Choice> ask(const Observed& observed) {
    for (;;) {
      try {
        return servers_.call<&PolicyService::ask>(observed, least_updates_);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::disconnected || !error.may_have_run()) throw;
      }
    }
  }

  const Balancer<PolicyService> servers_;
  std::uint64_t least_updates_ = 0;
  std::uint64_t oldest_ = 0;
};

class ByServers final : public Acting {
 public:
  explicit ByServers(const Clients<PolicyService>& servers) : policy_(servers) {}

  Segment act(EnvironmentBatch& environments, Random& random, std::size_t steps, std::uint64_t least_updates) override {
    policy_.begin(least_updates);
    Segment segment = act_out(environments, policy_, random, steps);
    segment.updates = policy_.oldest();
    return segment;
  }

 private:
  AskedPolicy policy_;
};

}  // namespace

std::unique_ptr<Acting> make_acting(const Client<ParameterSource>& learner, const Clients<PolicyService>& servers,
                                    const MakePolicy& policy, const EnvironmentSpec& spec) {
  if (!servers.empty()) return std::make_unique<ByServers>(servers);
  return std::make_unique<OwnPolicy>(learner, policy(spec));
}

}  // namespace lp

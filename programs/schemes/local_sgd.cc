#include "programs/schemes/local_sgd.h"

#include <array>
#include <memory>
#include <optional>
#include <span>

#include "lp/base/error.h"
#include "programs/training/rows.h"

namespace lp {
namespace {

class LocalSgdRule final : public ReplicaRule {
 public:
  LocalSgdRule(std::uint64_t average_every, std::optional<BlockMomentum> block)
      : average_every_(average_every), block_(block) {}

  bool step(Replica& replica, Collective& all, const Eigen::VectorXf& gradient, std::uint32_t examples) override {
    if (block_ && replica.global.size() == 0) {
      replica.global = replica.parameters;
      replica.change.setZero(replica.parameters.size());
    }
    descend(replica.optimizer, replica.parameters, gradient, examples);
    if ((replica.step + 1) % average_every_ != 0) return false;
    average(replica, all);
    return true;
  }
  void end(Replica& replica, Collective& all) override { average(replica, all); }

 private:
  void average(Replica& replica, Collective& all) {
    const std::array<std::span<float>, 3> tensors{flat(replica.parameters), replica.optimizer.first,
                                                  replica.optimizer.second};
    all.allreduce(tensors);
    for (const std::span<float> one : tensors) {
      for (float& value : one) value /= static_cast<float>(all.ranks());
    }
    if (!block_) return;
    const float momentum = block_->momentum < 0 ? 1 - 1 / static_cast<float>(all.ranks()) : block_->momentum;
    Eigen::VectorXf begin = replica.global;  // the beginning of this block
    if (block_->nesterov) begin += momentum * replica.change;
    replica.change = momentum * replica.change + block_->rate * (replica.parameters - begin);
    replica.global += replica.change;
    replica.parameters = replica.global;
    if (block_->nesterov) replica.parameters += momentum * replica.change;
  }

  const std::uint64_t average_every_;
  const std::optional<BlockMomentum> block_;
};

ReplicaScheme scheme_of(std::uint64_t average_every, std::optional<BlockMomentum> block) {
  if (average_every == 0) throw Error(ErrorKind::failed, "models would be averaged every 0 steps: give 1 or more");
  return {.division = Division::turns,
          .rule = [average_every, block] { return std::make_unique<LocalSgdRule>(average_every, block); }};
}

}  // namespace

ReplicaScheme local_sgd_scheme(std::uint64_t average_every) { return scheme_of(average_every, {}); }

ReplicaScheme bmuf_scheme(std::uint64_t average_every, BlockMomentum block) { return scheme_of(average_every, block); }

TrainingGraph add_local_sgd_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                     std::uint64_t average_every) {
  return add_replica_training(program, task, training, local_sgd_scheme(average_every));
}

TrainingGraph add_bmuf_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                std::uint64_t average_every, BlockMomentum block) {
  return add_replica_training(program, task, training, bmuf_scheme(average_every, block));
}

}  // namespace lp

#include "programs/schemes/ring.h"

#include <array>
#include <memory>
#include <span>

#include "programs/training/rows.h"

namespace lp {
namespace {

class RingRule final : public ReplicaRule {
 public:
  bool step(Replica& replica, Collective& all, const Eigen::VectorXf& gradient, std::uint32_t examples) override {
    sum_ = gradient;
    auto count = static_cast<float>(examples);
    const std::array<std::span<float>, 2> tensors{flat(sum_), std::span(&count, 1)};
    all.allreduce(tensors);
    if (count > 0) sum_ /= count;
    replica.optimizer.apply(flat(replica.parameters), flat(sum_));
    return true;
  }

 private:
  Eigen::VectorXf sum_{};
};

}  // namespace

ReplicaScheme ring_scheme(CollectiveOptions options) {
  return {.collective = options, .rule = [] { return std::make_unique<RingRule>(); }};
}

}  // namespace lp

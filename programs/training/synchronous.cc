#include "programs/training/synchronous.h"

#include <memory>
#include <optional>

#include "lp/base/error.h"
#include "programs/training/rows.h"

namespace lp {
namespace {

class SynchronousExchange final : public Exchange {
 public:
  SynchronousExchange(const ExchangeParts& parts, bool exact)
      : servers_(parts.servers), parameters_(parts.model.size()), exact_(exact) {}

  std::uint64_t begin() override {
    if (exact_) return servers_.pull_common(0, flat(parameters_));
    servers_.position();  // after a restart of the servers, its pushes that were lost do not count
    return servers_.wait(servers_.start_pull(0, 0, flat(parameters_))).newest;
  }
  const Eigen::VectorXf& parameters(std::uint64_t, const Rows&) override { return parameters_; }
  std::uint64_t push(std::uint64_t step, const Rows&, const BatchGradient& batch) override {
    const Arrival arrival = servers_.wait(
        servers_.start_push(0, step, flat(batch.gradient), batch.examples, flat(parameters_), batch.loss));
    if (exact_ && arrival.oldest != arrival.newest) {
      throw Error(ErrorKind::disconnected, "the servers are at different steps: they are being restored");
    }
    if (arrival.dropped > 0) ++dropped_;
    loss_ = arrival.loss;
    return arrival.oldest;
  }
  void end() override {
    if (!exact_) servers_.leave();  // a slower worker would wait for it
  }
  std::optional<double> loss() const override { return loss_; }
  std::uint64_t dropped() const override { return dropped_; }

 private:
  ParameterClient& servers_;
  Eigen::VectorXf parameters_;
  bool exact_;  // every worker takes part in every step
  std::uint64_t dropped_ = 0;
  double loss_ = 0;  // the loss of the newest update
};

}  // namespace

Scheme synchronous_scheme(const ServerTraining& training, std::uint32_t backups) {
  return {.consistency = Synchronous{.backups = backups, .steps = backups > 0 ? training.steps : kUnbounded},
          .rule = training.rule,
          .spare_workers = static_cast<int>(backups),
          .exchange = [exact = backups == 0](const ExchangeParts& parts) {
            return std::make_unique<SynchronousExchange>(parts, exact);
          }};
}

}  // namespace lp

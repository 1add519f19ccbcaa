#include "programs/schemes/bounded_delay.h"

#include <memory>
#include <optional>
#include <utility>

#include "programs/training/rows.h"

namespace lp {
namespace {

class BoundedDelayExchange final : public Exchange {
 public:
  explicit BoundedDelayExchange(const ExchangeParts& parts) : servers_(parts.servers), model_(parts.model) {}

  std::uint64_t begin() override {
    pushed_.reset();
    return servers_.position();
  }
  const Eigen::VectorXf& parameters(std::uint64_t step, const Rows& rows) override {
    servers_.wait(start_pull(servers_, model_, step, rows, parameters_));
    return parameters_;
  }
  std::uint64_t push(std::uint64_t step, const Rows& rows, const BatchGradient& batch) override {
    end_push();
    pushed_ = start_push(servers_, step, rows, batch.gradient, batch.examples);
    return step + 1;
  }
  void end() override { end_push(); }

 private:
  void end_push() {
    if (pushed_) servers_.wait(*std::exchange(pushed_, std::nullopt));
  }

  ParameterClient& servers_;
  const Model& model_;
  Eigen::VectorXf parameters_{};
  std::optional<ParameterClient::Request> pushed_{};  // the push of the step before
};

}  // namespace

Scheme bounded_delay_scheme(const ServerTraining& training, std::uint64_t delay) {
  return {.consistency = BoundedDelay{.delay = delay},
          .rule = training.rule,
          .takes_rows = true,
          .exchange = [](const ExchangeParts& parts) { return std::make_unique<BoundedDelayExchange>(parts); }};
}

}  // namespace lp

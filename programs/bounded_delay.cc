#include "programs/bounded_delay.h"

#include <memory>
#include <optional>
#include <utility>

#include "programs/flat.h"

namespace lp {
namespace {

class BoundedDelayExchange final : public Exchange {
 public:
  explicit BoundedDelayExchange(const ExchangeParts& parts)
      : servers_(parts.servers), parameters_(parts.model.size()) {}

  std::uint64_t begin() override {
    pushed_.reset();
    return servers_.position();
  }
  const Eigen::VectorXf& parameters(std::uint64_t step) override {
    servers_.wait(servers_.start_pull(0, step, flat(parameters_)));
    return parameters_;
  }
  std::uint64_t push(std::uint64_t step, const Eigen::VectorXf& gradient, std::uint32_t examples) override {
    end_push();
    pushed_ = servers_.start_push(0, step, flat(gradient), examples);
    return step + 1;
  }
  void end() override { end_push(); }

 private:
  void end_push() {
    if (pushed_) servers_.wait(*std::exchange(pushed_, std::nullopt));
  }

  ParameterClient& servers_;
  Eigen::VectorXf parameters_;
  std::optional<ParameterClient::Request> pushed_{};  // in the step before
};

}  // namespace

Scheme bounded_delay_scheme(const ServerTraining& training, std::uint64_t delay) {
  return {.consistency = BoundedDelay{.delay = delay},
          .rule = training.rule,
          .exchange = [](const ExchangeParts& parts) { return std::make_unique<BoundedDelayExchange>(parts); }};
}

}  // namespace lp

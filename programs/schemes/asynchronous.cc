#include "programs/schemes/asynchronous.h"

#include <memory>

#include "lp/base/error.h"
#include "programs/training/rows.h"

namespace lp {
namespace {

class AsynchronousExchange final : public Exchange {
 public:
  AsynchronousExchange(const ExchangeParts& parts, const Downpour& downpour)
      : servers_(parts.servers), model_(parts.model), downpour_(downpour), accrued_(parts.model.size()) {}

  std::uint64_t begin() override {
    fetched_ = false;
    clear();
    return servers_.position() * downpour_.push_every;
  }
  const Eigen::VectorXf& parameters(std::uint64_t step, const Rows& rows) override {
    if (!fetched_ || step % downpour_.fetch_every == 0) {
      servers_.wait(start_pull(servers_, model_, /*clock=*/0, rows, parameters_));  // the present version
      fetched_ = true;
    }
    return parameters_;
  }
  std::uint64_t push(std::uint64_t step, const Rows& rows, const BatchGradient& batch) override {
    if (!rows.empty()) {
      servers_.wait(start_push(servers_, step, rows, batch.gradient, batch.examples));
      return step + 1;
    }
    accrued_ += batch.gradient;
    examples_ += batch.examples;
    last_ = step;
    if ((step + 1) % downpour_.fetch_every != 0 && batch.examples > 0) {
      parameters_ -= downpour_.local_rate / static_cast<float>(batch.examples) * batch.gradient;
    }
    if ((step + 1) % downpour_.push_every == 0) push_accrued();
    return step + 1;
  }
  void end() override {
    if (examples_ > 0) push_accrued();
    servers_.leave();
  }

 private:
  void clear() {
    accrued_.setZero();
    examples_ = 0;
  }
  void push_accrued() {
    servers_.wait(start_push(servers_, last_ / downpour_.push_every, {}, accrued_, examples_));
    clear();
  }

  ParameterClient& servers_;
  const Model& model_;
  const Downpour downpour_;
  Eigen::VectorXf parameters_{};
  bool fetched_ = false;
  Eigen::VectorXf accrued_;     // the gradients of the steps since the last push
  std::uint32_t examples_ = 0;  // examples of these steps
  std::uint64_t last_ = 0;      // the last of these steps
};

}  // namespace

Scheme asynchronous_scheme(const ServerTraining& training, const Downpour& downpour) {
  if (downpour.fetch_every == 0 || downpour.push_every == 0) {
    throw Error(ErrorKind::failed, "asynchronous training would fetch or push every 0 steps: give 1 or more");
  }
  return {.consistency = Asynchronous{},
          .rule = training.rule,
          .division = Division::turns,
          .takes_rows = downpour.fetch_every == 1 && downpour.push_every == 1,
          .spare_workers = training.workers - 1,
          .exchange = [downpour](const ExchangeParts& parts) {
            return std::make_unique<AsynchronousExchange>(parts, downpour);
          }};
}

}  // namespace lp

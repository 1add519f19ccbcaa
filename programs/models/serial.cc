#include "programs/models/serial.h"

#include <cmath>
#include <cstddef>
#include <span>
#include <string>

#include "lp/base/error.h"
#include "programs/data/batches.h"

namespace lp {

Eigen::VectorXf train_serial(const Model& model, const Dataset& data, const Training& training) {
  Batches batches(static_cast<std::uint32_t>(data.examples()), training.batch, training.seed);
  Optimizer optimizer{.rule = training.rule};
  Eigen::VectorXf parameters = model.initialize(training.seed);
  Eigen::VectorXf gradient(model.size());
  const auto size = static_cast<std::size_t>(model.size());
  for (std::uint64_t step = 0; step < training.steps; ++step) {
    const double loss = model.loss(parameters, gather(data, batches.batch(step)), gradient);
    if (!std::isfinite(loss)) {
      throw Error(ErrorKind::failed,
                  "the loss of step " + std::to_string(step) + " is not finite: lower the learning rate");
    }
    gradient /= static_cast<float>(training.batch);
    optimizer.apply(std::span(parameters.data(), size), std::span(gradient.data(), size));
  }
  return parameters;
}

}  // namespace lp

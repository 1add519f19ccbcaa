#include "programs/training/evaluation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "lp/base/error.h"

namespace lp {

Evaluation evaluate(const Model& model, const Eigen::VectorXf& parameters, const Dataset& data) {
  if (data.examples() == 0) throw Error(ErrorKind::failed, "evaluate: there are no examples");
  Eigen::MatrixXf scores = model.scores_of(parameters, data);
  Eigen::VectorXi guesses(scores.cols());
  for (Eigen::Index i = 0; i < scores.cols(); ++i) scores.col(i).maxCoeff(&guesses(i));
  const auto examples = static_cast<double>(data.examples());
  Evaluation out;
  out.loss = softmax_cross_entropy(scores, data.labels) / examples;
  out.confusion.setZero(scores.rows(), scores.rows());
  for (Eigen::Index i = 0; i < guesses.size(); ++i) ++out.confusion(data.labels(i), guesses(i));
  out.accuracy = out.confusion.trace() / examples;
  return out;
}

std::function<Judge(std::uint64_t seed)> loss_and_accuracy(std::function<std::unique_ptr<Model>()> model,
                                                           std::function<Dataset(std::uint64_t seed)> data) {
  return [model = std::move(model), data = std::move(data)](std::uint64_t run_seed) {
    const std::shared_ptr<const Model> made = model();
    return Judge{.size = made->size(), .values = [made, examples = data(run_seed)](const Eigen::VectorXf& parameters) {
                   const Evaluation found = evaluate(*made, parameters, examples);
                   return MetricValues{{"loss", found.loss}, {"accuracy", found.accuracy}};
                 }};
  };
}

std::string confusion_table(const Eigen::MatrixXi& confusion, const std::vector<std::string>& names) {
  const auto right = [](const std::string& text, std::size_t width) {
    return std::string(width - std::min(width, text.size()), ' ') + text;
  };
  std::string out = "class | predicted";
  for (Eigen::Index j = 0; j < confusion.cols(); ++j) out += right(std::to_string(j), j == 0 ? 3 : 5);
  out += " | right\n";
  for (Eigen::Index i = 0; i < confusion.rows(); ++i) {
    out += right(std::to_string(i), 5) + " |        ";
    for (Eigen::Index j = 0; j < confusion.cols(); ++j) {
      out += right(confusion(i, j) == 0 ? "." : std::to_string(confusion(i, j)), j == 0 ? 3 : 5);
    }
    const int total = confusion.row(i).sum();
    const double share = total == 0 ? 0 : 100.0 * confusion(i, i) / total;
    out += " | " + right(total == 0 ? "-" : std::to_string(std::lround(share)) + "%", 5);
    if (const auto number = static_cast<std::size_t>(i); number < names.size()) out += "  " + names[number];
    out += "\n";
  }
  return out;
}

}  // namespace lp

#include "nodes/evaluator.h"

#include <string>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/text.h"

namespace lp {

Evaluator::Evaluator(Clients<ParameterServer> servers, Client<Metrics> metrics, EvaluatorOptions options)
    : servers_(std::move(servers)), metrics_(metrics), options_(std::move(options)) {
  if (options_.judge && options_.period > Duration::zero()) return;
  throw Error(ErrorKind::failed,
              "an evaluator needs a judge, and a period above 0, not " + duration_text(options_.period));
}

void Evaluator::run(Context& node) {
  const Judge judge = options_.judge(node.program_seed());
  do {
    Parameters parameters;
    try {
      parameters = all_parameters(servers_, judge.size);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::disconnected) throw;
      continue;
    }
    const MetricValues values = judge.values(parameters.values);
    metrics_.send<&Metrics::log>(parameters.step, values);
    node.exclusive([this] { ++looks_; });
    node.report({.step = parameters.step, .values = values});
    if (!options_.reached || !options_.reached(values)) continue;
    std::string found;
    for (const auto& [name, value] : values) found += (found.empty() ? "" : ", ") + name + " " + std::to_string(value);
    node.exclusive([&] { reached_ = parameters; });
    node.stop_program("after " + std::to_string(parameters.step) + " updates it is good enough: " + found);
    return;
  } while (node.wait_for(options_.period));
}

template const NodeType& internal::node_type<Evaluator>();

}  // namespace lp

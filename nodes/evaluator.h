#pragma once
// Evaluates the parameters of parameter servers, periodically, while others train, and ends the program when they are
// good enough. It delays nobody.
//
//     worker/0 ─┬─▶ server ◀─ evaluator ─▶ metrics
//     worker/1 ─┘
//
// A node: its run() evaluates, and its handlers run in its turn.

#include <cstdint>
#include <functional>
#include <optional>

#include <Eigen/Core>

#include "lp/base/scheduler.h"
#include "lp/program/context.h"
#include "lp/program/node_type.h"
#include "lp/rpc/clients.h"
#include "lp/rpc/core/method.h"
#include "lp/wire/eigen.h"
#include "nodes/metrics.h"
#include "nodes/parameters/parameter_server.h"
#include "nodes/parameters/parameters.h"

namespace lp {

// Computes the values, such as loss and accuracy, of some parameters.
struct Judge {
  Eigen::Index size = 0;  // the number of parameters
  std::function<MetricValues(const Eigen::VectorXf& parameters)> values{};
};

struct EvaluatorOptions {
  Duration period = std::chrono::seconds(1);  // the time between two evaluations
  // Called once, on the evaluator's host, with the program's seed: it may load test data there.
  std::function<Judge(std::uint64_t seed)> judge{};
  std::function<bool(const MetricValues& values)> reached{};  // true ends the program, with success
};

class Evaluator {
 public:
  // `servers` hold the parameters; the values go to `metrics`. Error::failed when an option does not fit.
  Evaluator(Clients<ParameterServer> servers, Client<Metrics> metrics, EvaluatorOptions options);

  // Evaluates until the program stops. While servers are being restored, it skips an evaluation.
  void run(Context& node);

  // The number of evaluations so far.
  std::uint64_t looks() const { return looks_; }
  // The parameters that were good enough to end the program; nothing before.
  std::optional<Parameters> reached() const { return reached_; }

  using Remote = Methods<idempotent<&Evaluator::looks>, idempotent<&Evaluator::reached>>;

 private:
  const Clients<ParameterServer> servers_;
  const Client<Metrics> metrics_;
  const EvaluatorOptions options_;
  std::uint64_t looks_ = 0;
  std::optional<Parameters> reached_{};
};

// The tables that calls of this class need are compiled once, in evaluator.cc.
extern template const NodeType& internal::node_type<Evaluator>();

}  // namespace lp

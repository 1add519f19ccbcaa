#pragma once
// Says how good what parameter servers hold is, again and again while others train, and ends the program when that is
// good enough. It holds nobody up.
//
//     worker/0 ─┬─▶ server ◀─ evaluator ─▶ metrics
//     worker/1 ─┘
//
// A node: its run() looks, and its handlers run in its turn.

#include <cstdint>
#include <functional>

#include <Eigen/Core>

#include "lp/base/scheduler.h"
#include "lp/program/context.h"
#include "lp/rpc/clients.h"
#include "lp/rpc/core/method.h"
#include "nodes/metrics.h"
#include "nodes/parameters/parameter_server.h"

namespace lp {

// What parameters are worth.
struct Judge {
  Eigen::Index size = 0;  // of the parameters
  std::function<MetricValues(const Eigen::VectorXf& parameters)> values{};
};

struct EvaluatorOptions {
  Duration period = std::chrono::seconds(1);  // from one look to the next
  // Made once, where the evaluator runs, with the program's seed: it may load what it needs.
  std::function<Judge(std::uint64_t seed)> judge{};
  std::function<bool(const MetricValues& values)> reached{};  // true ends the program, with success
};

class Evaluator {
 public:
  // `servers` hold the parameters; the values go to `metrics`. Error::failed when an option does not fit.
  Evaluator(Clients<ParameterServer> servers, Client<Metrics> metrics, EvaluatorOptions options);

  // Looks until the program stops. Servers that are restored just then are looked at the next time.
  void run(Context& node);

  // So far.
  std::uint64_t looks() const { return looks_; }

  using Remote = Methods<idempotent<&Evaluator::looks>>;

 private:
  const Clients<ParameterServer> servers_;
  const Client<Metrics> metrics_;
  const EvaluatorOptions options_;
  std::uint64_t looks_ = 0;
};

}  // namespace lp

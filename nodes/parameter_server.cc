#include "nodes/parameter_server.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>

#include "lp/base/error.h"

namespace lp {
namespace {

constexpr std::size_t kMostPulls = 1 << 16;  // that wait

bool all_finite(std::span<const float> values) {
  bool finite = true;
  for (const float value : values) finite &= std::isfinite(value);
  return finite;
}

}  // namespace

ParameterServer::ParameterServer(Context& context, Array<float> initial, ParameterServerOptions options)
    : context_(context),
      options_(options),
      versions_{.newest = std::move(initial)},
      optimizer_{.rule = options.rule},
      gradients_(options.workers) {
  if (options.workers == 0) throw Error(ErrorKind::failed, "a parameter server without workers would never do a step");
  if (!(options.divisor > 0)) {
    throw Error(ErrorKind::failed, "a parameter server divides gradients by " + std::to_string(options.divisor) +
                                       "; give the number of examples in a batch");
  }
}

Future<Array<float>> ParameterServer::pull(std::uint64_t step) {
  if (step == versions_.step) return ready(versions_.newest);
  if (step < versions_.step) {
    if (step + 1 == versions_.step && versions_.previous.size() == versions_.newest.size()) {
      return ready(versions_.previous);
    }
    throw out_of_step("a pull of version ", step);
  }
  if (pulls_.size() >= kMostPulls) {
    throw Error(ErrorKind::overloaded, std::to_string(kMostPulls) + " pulls wait for later versions already");
  }
  pulls_.emplace_back(step, Promise<Array<float>>());
  return pulls_.back().second.future();
}

Future<Array<float>> ParameterServer::push(std::uint64_t step, std::uint32_t worker, Array<float> gradient) {
  check(worker, gradient);
  if (step < versions_.step && step + 1 == versions_.step) return ready(versions_.newest);
  if (step != versions_.step) throw out_of_step("a gradient of step ", step);
  if (!gradients_[worker]) {
    gradients_[worker] = std::move(gradient);
    ++arrived_;
  }
  pushes_.emplace_back();
  Future<Array<float>> applied = pushes_.back().future();
  if (arrived_ == options_.workers) apply();
  return applied;
}

void ParameterServer::check(std::uint32_t worker, const Array<float>& gradient) const {
  const std::string whose = "the gradient of worker " + std::to_string(worker);
  if (worker >= options_.workers) {
    throw Error(ErrorKind::failed, whose + ": there are " + std::to_string(options_.workers) + ", counted from 0");
  }
  if (gradient.size() != versions_.newest.size()) {
    throw Error(ErrorKind::failed, whose + " has " + std::to_string(gradient.size()) + " values, but the server has " +
                                       std::to_string(versions_.newest.size()) + " parameters");
  }
  if (all_finite(gradient)) return;
  const float* const bad = std::find_if(gradient.begin(), gradient.end(), [](float g) { return !std::isfinite(g); });
  throw Error(ErrorKind::failed, whose + " is " + std::to_string(*bad) + " at element " +
                                     std::to_string(bad - gradient.begin()) +
                                     " of this shard: a lower learning rate may help");
}

Error ParameterServer::out_of_step(const char* what, std::uint64_t step) const {
  return Error(ErrorKind::disconnected, what + std::to_string(step) + " came to a server at step " +
                                            std::to_string(versions_.step) +
                                            ", since one of both was restarted: go on from versions()");
}

void ParameterServer::apply() {
  Array<float> sum = *std::exchange(gradients_[0], std::nullopt);
  const std::span<float> mean = sum.edit();
  for (std::uint32_t worker = 1; worker < options_.workers; ++worker) {
    const Array<float> gradient = *std::exchange(gradients_[worker], std::nullopt);
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += gradient[i];
  }
  for (float& value : mean) value /= options_.divisor;
  versions_.previous = versions_.newest;  // edit() copies: who holds this version keeps it
  optimizer_.apply(versions_.newest.edit(), mean);
  ++versions_.step;
  arrived_ = 0;
  for (Promise<Array<float>>& push : std::exchange(pushes_, {})) push.set_value(versions_.newest);
  std::erase_if(pulls_, [this](auto& pull) {
    if (pull.first != versions_.step) return false;
    pull.second.set_value(versions_.newest);
    return true;
  });
  const bool due = options_.cut_every != 0 && versions_.step % options_.cut_every == 0;
  if (due || versions_.step == options_.last_step) context_.cut(versions_.step);
}

void ParameterServer::save(Checkpoint& out) const {
  out.put("seed", context_.program_seed());
  out.put("step", versions_.step);
  out.put("parameters", versions_.newest);
  out.put("optimizer", optimizer_);
}

// The rule's constants are the configuration's: a run that is resumed may have others.
void ParameterServer::load(const Checkpoint& in) {
  auto parameters = in.get<Array<float>>("parameters");
  auto optimizer = in.get<Optimizer>("optimizer");
  if (parameters.size() != versions_.newest.size() || optimizer.rule.index() != options_.rule.index()) {
    throw Error(ErrorKind::failed, "the checkpoint has " + std::to_string(parameters.size()) +
                                       " parameters in this shard and optimizer " +
                                       std::to_string(optimizer.rule.index()) + ", the program " +
                                       std::to_string(versions_.newest.size()) + " and optimizer " +
                                       std::to_string(options_.rule.index()) +
                                       ": resume with the model, servers and optimizer that it was saved with");
  }
  if (const auto seed = in.get<std::uint64_t>("seed"); seed != context_.program_seed()) {
    throw Error(ErrorKind::failed, "the checkpoint is of a run with seed " + std::to_string(seed) +
                                       ": with another the workers would go on with other batches, and the data would "
                                       "be split otherwise");
  }
  optimizer.rule = options_.rule;
  optimizer_ = std::move(optimizer);
  versions_ = {.step = in.get<std::uint64_t>("step"), .newest = std::move(parameters)};
}

}  // namespace lp

#include "programs/experiments/parameter_source.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "lp/base/error.h"

namespace lp {

void ParameterSource::remember_reported(Context& node) {
  const std::map<std::string, MetricPoint> latest = metrics_.call<&Metrics::latest>();
  const auto updates = latest.find("updates");
  if (updates == latest.end()) return;
  const auto count = [&](const char* name) { return static_cast<std::uint64_t>(latest.at(name).value); };
  const TrainingCounts before{.steps = updates->second.step,
                              .episodes = count("episodes"),
                              .updates = count("updates"),
                              .stale = count("stale")};
  node.exclusive([&] { reported_ = most_of(reported_, before); });
}

void ParameterSource::report(Context& node, std::uint64_t total, MetricValues values) {
  const auto now = node.exclusive([this]() -> std::optional<TrainingCounts> {
    if (done().updates < reported_.updates || done().steps < reported_.steps) return std::nullopt;
    return reported_ = most_of(reported_, done());
  });
  if (!now) return;
  if (now->recent_reward) values.insert(values.begin(), {"reward", *now->recent_reward});
  Progress progress{.step = now->updates, .total = total == kEndless ? 0 : total, .values = values};
  progress.values.emplace_back("steps", static_cast<double>(now->steps));
  for (const auto& [name, count] :
       {std::pair("updates", now->updates), std::pair("episodes", now->episodes), std::pair("stale", now->stale)}) {
    values.emplace_back(name, static_cast<double>(count));
  }
  const bool last = now->updates >= total;
  if (!last && logged_ && !logged_->ready()) return metrics_.send<&Metrics::log>(now->steps, values);
  show(node);
  logged_ = metrics_.async<&Metrics::log>(now->steps, values);
  logged_progress_ = std::move(progress);
  if (last) show(node);
}

Future<void> ParameterSource::end_early(std::string reason) {
  if (ended_) return ready();
  if (!end_reason_) end_reason_ = std::move(reason);
  awaits_end_.emplace_back();
  return awaits_end_.back().future();
}

void ParameterSource::end(Context& node) {
  show(node);
  if (ended_early()) {
    node.wait_for_cut(done().updates);
    node.stop_program(*end_reason_);
  }
  node.exclusive([this] {
    ended_ = true;
    for (Promise<void>& one : std::exchange(awaits_end_, {})) one.set_value();
  });
}

void ParameterSource::show(Context& node) {
  if (!logged_) return;
  try {
    logged_->get();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::disconnected) throw;  // else the metrics are being restarted, and remember nothing
  }
  logged_.reset();
  node.report(logged_progress_);
}

}  // namespace lp

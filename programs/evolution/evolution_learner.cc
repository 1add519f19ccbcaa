#include "programs/evolution/evolution_learner.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/text.h"

namespace lp {
namespace {

Array<float> table_of(const NoiseOptions& options, std::uint64_t seed) {
  return options.kind == NoiseKind::table ? noise_table(seed, options.table_size) : Array<float>();
}

// The parameters that evaluate() takes: those that are searched, then the scale.
Array<float> joined(const Array<float>& centre, const Array<float>& scale) {
  if (scale.empty()) return centre;
  auto out = Array<float>::uninitialized(centre.size() + scale.size());
  std::copy(scale.begin(), scale.end(), std::copy(centre.begin(), centre.end(), out.edit().begin()));
  return out;
}

}  // namespace

EvolutionLearner::EvolutionLearner(Context& node, Client<Metrics> metrics, Clients<EvolutionMember> workers,
                                   const EvolutionOptions& options)
    : ParameterSource(std::move(metrics)),
      options_(options),
      workers_(std::move(workers)),
      objective_(made_objective(options.objective, node.program_seed())),
      table_(table_of(options.noise, node.program_seed())),
      noise_(make_noise(options.noise.kind, node.program_seed(), table_)),
      search_(options.method.search(objective_->start(node.program_seed()), *noise_)),
      sampler_(options.method.sampler(*noise_)),
      points_(search_->trials() * sampler_->points()),
      generations_(options.evaluations / points_ + (options.evaluations % points_ != 0 ? 1 : 0)),
      cuts_{.every = options.checkpoint_every, .last = generations_},
      book_(search_->trials(), !options.synchronous, options.lease),
      last_news_(now()) {
  noise.publish(table_);
  publish();
  watch_workers();
}

bool EvolutionLearner::over() const {
  return generation() >= generations_ || ended_early() || (options_.goal && best_ && *best_ >= *options_.goal);
}

EvolutionState EvolutionLearner::state() const {
  const TrainingCounts known = counts();
  return {.generations = known.updates,
          .evaluations = known.updates * points_,
          .stale = known.stale,
          .best = best_,
          .best_parameters = best_parameters_};
}

void EvolutionLearner::watch_workers() {
  workers_ = workers_.latest();
  std::set<std::uint32_t> there;
  for (std::size_t i = 0; i < workers_.size(); ++i) there.insert(static_cast<std::uint32_t>(workers_.replica(i)));
  for (const auto& [worker, range] : book_.given()) {
    if (!there.contains(worker)) book_.take_back(worker);
  }
  std::erase_if(waiting_, [&](const auto& one) { return !there.contains(one.first); });
  serve_waiting();
  const Future<void> watched = workers_.change().then([this](Future<void> change) {
    change.get();  // throws when the run ends
    watch_workers();
  });
}

Future<TrialOrder> EvolutionLearner::work(std::uint32_t worker, TrialReport done) {
  last_news_ = now();
  take(std::move(done));
  book_.take_back(worker);  // it lost those that it has not reported
  if (const auto before = waiting_.find(worker); before != waiting_.end()) before->second.set_value({});
  Promise<TrialOrder>& promise = waiting_[worker] = {};
  Future<TrialOrder> order = promise.future();
  serve_waiting();
  return order;
}

void EvolutionLearner::take(TrialReport done) {
  for (std::size_t i = 0; i < done.trials.size(); ++i) {
    const bool used = done.generation == generation() &&
                      book_.put(done.first + static_cast<std::uint32_t>(i), std::move(done.trials[i]));
    if (!used) counter_.add_stale();
  }
  if (complete_ && book_.complete()) std::exchange(complete_, std::nullopt)->set_value();
}

void EvolutionLearner::serve_waiting() {
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    const TrialRange range = over() ? TrialRange() : book_.give(at->first, workers_.size());
    if (range.count == 0 && !over()) return;
    last_news_ = now();
    at->second.set_value({.generation = generation(), .range = range, .over = over()});
    at = waiting_.erase(at);
  }
}

std::vector<Trial> EvolutionLearner::complete_generation(Context& node) {
  Future<void> complete = node.exclusive([this] {
    if (book_.complete()) return ready();
    return complete_.emplace().future();
  });
  const auto look_after = [this] {
    const Duration pause = book_.take_back_late();
    serve_waiting();
    check_patience();
    return std::min(pause, std::max<Duration>(until(later(last_news_, options_.patience)), options_.patience / 8));
  };
  while (!complete.get_for(node.exclusive(look_after))) {
  }
  return node.exclusive([this] { return book_.take_results(); });
}

void EvolutionLearner::check_patience() const {
  std::vector<std::string> names;
  for (const auto& [worker, range] : book_.given()) {
    names.push_back("worker/" + std::to_string(worker) + " (trials from " + std::to_string(range.first) + " on)");
  }
  if (names.empty() || !passed(later(last_news_, options_.patience))) return;
  throw Error(ErrorKind::failed, "generation " + std::to_string(generation()) + ": for " +
                                     duration_text(options_.patience) + " no result has arrived from " +
                                     join(names, ", ") + "; does the objective \"" + objective_->name() +
                                     "\" not return?");
}

void EvolutionLearner::run(Context& node) {
  remember_reported(node);
  while (!node.exclusive([this] { return over(); })) improve(node, complete_generation(node));
  node.exclusive([this] { serve_waiting(); });
  end(node);
}

void EvolutionLearner::improve(Context& node, const std::vector<Trial>& trials) {
  sampler_->set(search_->distribution());
  MetricValues values = search_->tell(trials);
  node.exclusive([&] {
    keep_best(trials);
    count(trials);
    end_if_asked();
    publish();
    book_.begin();
    serve_waiting();
    values.insert(values.begin(), {"best", *best_});
  });
  if (cuts_.due(generation(), over())) node.checkpoint(generation());
  report(node, generations_, std::move(values));
}

void EvolutionLearner::keep_best(const std::vector<Trial>& trials) {
  for (const Trial& one : trials) {
    for (std::size_t i = 0; i < one.values.size(); ++i) {
      if (best_ && one.values[i] <= *best_) continue;
      best_ = one.values[i];
      auto point = Array<float>::uninitialized(objective_->size());
      sampler_->point(one.index, i, point.edit());
      best_parameters_ = std::move(point);
    }
  }
}

void EvolutionLearner::count(const std::vector<Trial>& trials) {
  counter_.add_update();
  for (const Trial& one : trials) {
    observations_.merge(one.observations);
    std::vector<FinishedEpisode> finished;
    for (const double value : one.values) {
      finished.resize(finished.size() + one.episodes / one.values.size(), {.reward = value});
    }
    counter_.add_steps(one.steps, finished);
  }
}

void EvolutionLearner::publish() {
  Population now{.generation = generation(), .distribution = search_->distribution()};
  if (const std::size_t size = objective_->normalized(); size > 0) {
    now.scale = Array<float>::uninitialized(2 * size);
    observations_.write_scale(now.scale.edit());
  }
  learned.publish({.steps = done().steps,
                   .updates = done().updates,
                   .progress = static_cast<double>(generation()) / static_cast<double>(generations_),
                   .parameters = joined(now.distribution.centre, now.scale)});
  population.publish(std::move(now));
}

void EvolutionLearner::save(Checkpoint& out) const {
  counter_.save(out);
  search_->save(out);
  out.put("observations", observations_);
  out.put("best", best_);
  out.put("best_parameters", best_parameters_);
}

void EvolutionLearner::load(const Checkpoint& in) {
  counter_.load(in);
  search_->load(in);
  observations_ = in.get<Moments>("observations");
  best_ = in.get<std::optional<double>>("best");
  best_parameters_ = in.get<Array<float>>("best_parameters");
  cuts_.cut = generation();
  book_.begin();
  publish();
}

template const NodeType& internal::node_type<EvolutionLearner>();

}  // namespace lp

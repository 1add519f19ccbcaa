#include "nodes/parameters/shard.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <utility>
#include <variant>

#include "lp/base/error.h"

namespace lp {
namespace {

template <class F>
auto with(const Consistency& consistency, F f) {
  return std::visit(f, consistency);
}

std::string gradient_of(std::uint32_t worker) { return "the gradient of worker " + std::to_string(worker); }

std::size_t rows_in(const std::vector<SlotRun>& runs) {
  std::size_t rows = 0;
  for (const SlotRun& run : runs) rows += run.count;
  return rows;
}

}  // namespace

void ShardStatistics::add(const ShardStatistics& other) {
  updates += other.updates;
  applied += other.applied;
  dropped += other.dropped;
  duplicates += other.duplicates;
  staleness.resize(std::max(staleness.size(), other.staleness.size()));
  for (std::size_t i = 0; i < other.staleness.size(); ++i) staleness[i] += other.staleness[i];
}

double ShardStatistics::mean_staleness() const {
  double sum = 0;
  for (std::size_t i = 0; i < staleness.size(); ++i) sum += static_cast<double>(i * staleness[i]);
  return applied == 0 ? 0 : sum / static_cast<double>(applied);
}

Shard::Shard(KeyIndex index, Array<float> values, const ShardOptions& options, kernels::Queue* queue)
    : index_(std::move(index)),
      options_(options),
      present_(options.workers),
      clocks_(options.workers),
      left_(options.workers),
      values_(queue == nullptr ? host_values(std::move(values), options.rule)
                               : queue_values(*queue, std::move(values), options.rule)) {
  check(options.consistency, options.workers);
  if (options.width == 0) throw Error(ErrorKind::failed, "the rows of a tensor have 0 values: give a width");
  if (values_->size() != std::size_t{index_.size()} * options.width) {
    throw Error(ErrorKind::failed, "a shard of " + std::to_string(index_.size()) + " keys with " +
                                       std::to_string(options.width) + " values each was given " +
                                       std::to_string(values_->size()) + " initial values");
  }
}

std::uint64_t Shard::clock(std::uint32_t worker) const { return worker < clocks_.size() ? clocks_[worker] : 0; }

std::uint64_t Shard::clock_after(const Stamp& stamp) const {
  return std::holds_alternative<Synchronous>(options_.consistency) ? stamp.version + 1 : stamp.clock + 1;
}

bool Shard::readable(std::uint64_t clock) const {
  return with(options_.consistency, [&](const auto& one) { return one.readable(clock, progress_); });
}

bool Shard::lost_pushes(std::uint32_t worker, std::uint64_t clock) const {
  return worker < clocks_.size() && clocks_[worker] < clock;
}

std::uint32_t Shard::needed() const {
  return with(options_.consistency, [&](const auto& one) { return one.needed(options_.workers, present_); });
}

void Shard::set_clock(std::uint32_t worker, std::uint64_t clock) {
  clocks_[worker] = clock;
  left_[worker] = false;
  count_workers();
}

void Shard::count_workers() {
  progress_.slowest = kUnbounded;
  for (std::size_t worker = 0; worker < clocks_.size(); ++worker) {
    if (!left_[worker]) progress_.slowest = std::min(progress_.slowest, clocks_[worker]);
  }
  present_ = static_cast<std::uint32_t>(std::count(left_.begin(), left_.end(), false));
}

void Shard::leave(std::uint32_t worker) {
  if (worker >= left_.size()) return;
  left_[worker] = true;
  count_workers();
  update_while_complete();
}

std::vector<SlotRun> Shard::runs_of(const KeySet& keys, std::vector<std::uint32_t>& missing) const {
  if (keys.list.empty()) return index_.find(keys.range);
  std::vector<SlotRun> runs = index_.find(keys.list, &missing);
  if (!missing.empty() && index_.dense()) {
    throw Error(ErrorKind::failed,
                "key " + std::to_string(keys.list[missing.front()]) +
                    " does not belong to this server: do client and servers split the keys in the same way?");
  }
  return runs;
}

Array<float> Shard::checked(const Push& push, std::size_t rows, kernels::Room<float>& there) const {
  Array<float> values = decode(push.values);
  const std::uint32_t worker = push.stamp.worker;
  if (values.size() != rows * options_.width) {
    throw Error(ErrorKind::failed, gradient_of(worker) + " has " + std::to_string(values.size()) +
                                       " values, but the server has " + std::to_string(rows * options_.width) +
                                       " parameters");
  }
  if (options_.bad_values == BadValues::pass || values_->finite(values, there)) return values;
  there = {};
  if (must_clip(options_.bad_values, values.span(), gradient_of(worker))) clip(values.edit());
  return values;
}

PushOutcome Shard::push(const Push& push) {
  Stamp stamp = push.stamp;
  if (stamp.worker >= options_.workers) {
    throw Error(ErrorKind::failed, gradient_of(stamp.worker) + ": the number of workers is " +
                                       std::to_string(options_.workers) + ", counted from 0");
  }
  std::vector<std::uint32_t> missing;
  std::vector<SlotRun> runs = runs_of(push.keys, missing);
  kernels::Room<float> there;
  Array<float> values = checked(push, rows_in(runs) + missing.size(), there);
  // The clock of a synchronous worker is its version, which does not count the updates that it took no part in.
  const bool lost =
      !std::holds_alternative<Synchronous>(options_.consistency) && lost_pushes(stamp.worker, stamp.previous);
  if (lost || stamp.version > progress_.version) return PushOutcome::ahead;
  stamp.clock = clock_after(stamp) - 1;
  if (stamp.clock < clocks_[stamp.worker]) {
    ++statistics_.duplicates;
    return PushOutcome::duplicate;
  }
  const std::uint64_t round = with(options_.consistency, [&](const auto& one) { return one.round(stamp, progress_); });
  const auto* const synchronous = std::get_if<Synchronous>(&options_.consistency);
  const bool is_over = synchronous != nullptr && round >= synchronous->steps;
  if (is_over || round < progress_.version) {
    // A push after the last step may come again, and is no duplicate then: no update follows for which that one waits.
    set_clock(stamp.worker, is_over ? stamp.clock : stamp.clock + 1);
    ++statistics_.dropped;
    return PushOutcome::dropped;
  }
  const auto own = std::count_if(waiting_.begin(), waiting_.end(),
                                 [&](const WaitingGradient& one) { return one.stamp.worker == stamp.worker; });
  if (own >= static_cast<std::ptrdiff_t>(kMostWaiting)) {
    throw Error(ErrorKind::overloaded, std::to_string(own) + " gradients of worker " + std::to_string(stamp.worker) +
                                           " wait for the slowest worker, which is at clock " +
                                           std::to_string(progress_.slowest));
  }
  if (!missing.empty()) {
    insert(push.keys, missing);
    runs = index_.find(push.keys.list, nullptr);
  }
  waiting_.push_back({.round = round,
                      .stamp = stamp,
                      .examples = push.examples,
                      .loss = push.loss,
                      .keys = push.keys,
                      .runs = std::move(runs),
                      .values = std::move(values),
                      .there = std::move(there)});
  set_clock(stamp.worker, stamp.clock + 1);
  update_while_complete();
  return PushOutcome::accepted;
}

void Shard::insert(const KeySet& keys, const std::vector<std::uint32_t>& missing) {
  std::vector<std::uint64_t> added(missing.size());
  for (std::size_t i = 0; i < added.size(); ++i) added[i] = keys.list[missing[i]];
  index_.insert(added);
  const std::size_t size = std::size_t{index_.size()} * options_.width;
  if (size > values_->size()) values_->grow(std::max(size, values_->size() * 2));
}

void Shard::update_while_complete() {
  for (;;) {
    const auto is_due = [this](const WaitingGradient& one) { return one.round <= progress_.version; };
    const auto here = static_cast<std::uint32_t>(std::count_if(waiting_.begin(), waiting_.end(), is_due));
    if (here == 0 || here < needed()) return;
    const auto due =
        std::stable_partition(waiting_.begin(), waiting_.end(), [&](const auto& one) { return !is_due(one); });
    std::vector<WaitingGradient> gradients(std::make_move_iterator(due), std::make_move_iterator(waiting_.end()));
    waiting_.erase(due, waiting_.end());
    sort_by_worker(gradients);
    apply(std::move(gradients));
  }
}

// Applies the weighted sum of the gradients, in the order of the workers, divided by the examples of all.
void Shard::apply(std::vector<WaitingGradient> gradients) {
  std::uint64_t examples = 0;
  double loss = 0;
  for (WaitingGradient& one : gradients) {
    const std::uint64_t staleness = progress_.version - one.stamp.version;
    one.weight = with(options_.consistency, [&](const auto& strategy) { return strategy.weight(staleness); });
    examples += one.examples;
    loss += one.loss;
    statistics_.staleness.resize(ShardStatistics::kStaleness);
    ++statistics_.staleness[std::min<std::size_t>(staleness, ShardStatistics::kStaleness - 1)];
  }
  if (examples != 0) loss_ = loss / static_cast<double>(examples);
  statistics_.applied += gradients.size();
  merge_rows(gradients, index_, options_.width);
  if (std::holds_alternative<Synchronous>(options_.consistency)) previous_ = values();
  values_->update(gradients, options_.width, examples);
  ++progress_.version;
  ++statistics_.updates;
}

Reply Shard::read(const KeySet& keys) const {
  Reply reply{.version = progress_.version, .slowest = progress_.slowest, .loss = loss_};
  const std::size_t width = options_.width;
  std::vector<std::uint32_t> missing;
  const std::vector<SlotRun> runs = runs_of(keys, missing);
  const std::size_t rows = rows_in(runs) + missing.size();
  if (!index_.dense() && keys.list.empty()) reply.keys = index_.keys_in(keys.range);
  const bool whole = index_.dense() && runs.size() <= 1 && missing.empty() && rows == index_.size();
  if (whole) {
    reply.values = values();
    return reply;
  }
  reply.values = missing.empty() ? Array<float>::uninitialized(rows * width) : Array<float>(rows * width);
  float* const to = reply.values.edit().data();
  const float* const from = values().data();
  for (const SlotRun& run : runs) {
    std::memcpy(to + run.at * width, from + run.slot * width, run.count * width * sizeof(float));
  }
  return reply;
}

void Shard::save(Checkpoint& out, const std::string& name) const {
  std::vector<std::uint64_t> clocks = clocks_;
  for (const WaitingGradient& one : waiting_) {
    clocks[one.stamp.worker] = std::min(clocks[one.stamp.worker], one.stamp.clock);
  }
  out.put(name + "step", progress_.version);
  out.put(name + "parameters", values());
  out.put(name + "optimizer", values_->optimizer());
  out.put(name + "clocks", clocks);
  out.put(name + "statistics", statistics_);
  out.put(name + "keys", index_.dense() ? Array<std::uint64_t>() : index_.keys_by_slot());
}

// The constants of the rule come from the configuration: a resumed run may have others.
void Shard::load(const Checkpoint& in, const std::string& name) {
  auto parameters = in.get<Array<float>>(name + "parameters");
  auto optimizer = in.get<Optimizer>(name + "optimizer");
  auto clocks = in.get<std::vector<std::uint64_t>>(name + "clocks");
  const auto keys = in.get<Array<std::uint64_t>>(name + "keys");
  const bool fits = index_.dense() ? parameters.size() == values_->size() && keys.empty()
                                   : parameters.size() >= keys.size() * options_.width;
  if (!fits || optimizer.rule.index() != options_.rule.index()) {
    throw Error(ErrorKind::failed,
                "the checkpoint has " + std::to_string(parameters.size()) + " parameters in this shard and optimizer " +
                    std::to_string(optimizer.rule.index()) + ", the program " + std::to_string(values_->size()) +
                    " and optimizer " + std::to_string(options_.rule.index()) +
                    ": resume with the same model, servers and optimizer");
  }
  if (!index_.dense()) index_ = KeyIndex::of_slots(keys);
  clocks.resize(options_.workers);
  clocks_ = std::move(clocks);
  left_.assign(options_.workers, false);
  optimizer.rule = options_.rule;
  values_->restore(std::move(parameters), std::move(optimizer));
  previous_ = {};
  waiting_.clear();
  progress_.version = in.get<std::uint64_t>(name + "step");
  statistics_ = in.get<ShardStatistics>(name + "statistics");
  count_workers();
}

}  // namespace lp

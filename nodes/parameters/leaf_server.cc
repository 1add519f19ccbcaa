#include "nodes/parameters/leaf_server.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "lp/base/error.h"

namespace lp {

LeafServer::LeafServer(Context& node, Clients<ParameterService> above, Clients<Learner> learners, BadValues bad_values)
    : above_(std::move(above)),
      group_(std::move(learners), [this] { learners_changed(); }),
      index_(static_cast<std::uint32_t>(node.index())),
      bad_values_(bad_values) {
  const auto leaves = static_cast<std::uint32_t>(node.replicas());
  for (std::uint32_t i = index_; i < group_.size(); i += leaves) learners_.insert(i);
  if (learners_.empty()) throw Error(ErrorKind::failed, "a leaf server needs at least one learner");
  learners_changed();
}

void LeafServer::check_learner(std::uint32_t learner) const {
  if (learners_.contains(learner)) return;
  throw Error(ErrorKind::failed, "worker " + std::to_string(learner) + " is not a learner of leaf server " +
                                     std::to_string(index_) +
                                     ": of n leaf servers, number k serves the workers whose number is k mod n");
}

void LeafServer::learners_changed() {
  for (const auto& [key, sums] : sums_) push_complete(key);
  if (!has_learners()) leave_above();
}

bool LeafServer::has_learners() const {
  return std::any_of(learners_.begin(), learners_.end(), [this](std::uint32_t one) { return is_there(one); });
}

Future<Reply> LeafServer::push(Push push) {
  const std::uint32_t learner = push.stamp.worker;
  const std::uint64_t clock = push.stamp.clock;
  check_learner(learner);
  static_cast<void>(above_[push.shard]);  // throws when there is no such server
  if (!push.keys.list.empty() || push.keys.hash != 0) {
    throw Error(ErrorKind::failed,
                "a leaf server sums gradients of whole tensors, but only some keys of a tensor were pushed by worker " +
                    std::to_string(learner));
  }
  Array<float> values = decode(push.values);
  if (must_clip(bad_values_, values.span(), "the gradient of worker " + std::to_string(learner))) clip(values.edit());
  const TensorShard key{push.tensor, push.shard};
  Sums& sums = sums_[key];
  if (sums.size() >= Shard::kMostWaiting && !sums.contains(clock)) {
    throw Error(ErrorKind::overloaded, std::to_string(sums.size()) + " sums of leaf server " + std::to_string(index_) +
                                           " wait for the slowest of its learners");
  }
  Sum& sum = sums[clock];
  if (!sum.gradients.empty() && sum.gradients.begin()->second.values.size() != values.size()) {
    throw Error(ErrorKind::failed, "the gradient of worker " + std::to_string(learner) + " has " +
                                       std::to_string(values.size()) + " values, but another learner's has " +
                                       std::to_string(sum.gradients.begin()->second.values.size()));
  }
  left_.erase(learner);
  sum.gradients.try_emplace(learner, Gradient{std::move(push), std::move(values)});
  sum.waiting.emplace_back();
  Future<Reply> answered = sum.waiting.back().future();
  push_complete(key);
  return answered;
}

bool LeafServer::has_all(const Sum& sum) const {
  return std::all_of(learners_.begin(), learners_.end(),
                     [&](std::uint32_t one) { return !is_there(one) || sum.gradients.contains(one); });
}

void LeafServer::push_complete(const TensorShard& key) {
  const Sums& sums = sums_[key];
  for (const auto& [clock, sum] : sums) {
    if (!sum.pushed && has_all(sum)) push_sum(key, clock);
  }
  if (stands_still(sums)) ask_position(key);
}

// Pushes the sum as one gradient. It adds in the order of the learners, and is as old as the oldest of their gradients.
void LeafServer::push_sum(const TensorShard& key, std::uint64_t clock) {
  const Sum& sum = sums_[key][clock];
  Push pushed = sum.gradients.begin()->second.push;
  Array<float> values = sum.gradients.begin()->second.values;
  const std::span<float> to = values.edit();
  for (auto one = std::next(sum.gradients.begin()); one != sum.gradients.end(); ++one) {
    const Push& push = one->second.push;
    pushed.examples += push.examples;
    pushed.loss += push.loss;
    pushed.stamp.version = std::min(pushed.stamp.version, push.stamp.version);
    pushed.pull = pushed.pull || push.pull;
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += one->second.values[i];
  }
  pushed.stamp.worker = index_;
  pushed.values = plain(std::move(values));
  answer(key, clock, above_[key.shard].async<&ParameterService::push>(std::move(pushed)));
}

// Returns whether every present learner waits, but for sums of different clocks. Then one of them repeats a push that
// was answered to the others: it or this leaf was restarted, or the servers went back and not all learners know it yet.
bool LeafServer::stands_still(const Sums& sums) const {
  const auto waits = [&](std::uint32_t learner) {
    return std::any_of(sums.begin(), sums.end(),
                       [&](const auto& one) { return !one.second.pushed && one.second.gradients.contains(learner); });
  };
  return std::any_of(sums.begin(), sums.end(), [](const auto& one) { return !one.second.pushed; }) &&
         std::all_of(learners_.begin(), learners_.end(),
                     [&](std::uint32_t one) { return !is_there(one) || waits(one); });
}

void LeafServer::ask_position(const TensorShard& key) {
  if (!asked_.insert(key).second) return;
  const Future<void> asked = above_[key.shard]
                                 .async<&ParameterService::position>(key.tensor, key.shard, index_)
                                 .then([this, key](Future<WorkerPosition> position) {
                                   asked_.erase(key);
                                   sort_out(key, std::move(position));
                                 });
}

// Handles the sums after the servers above have returned the clock that they want next.
void LeafServer::sort_out(const TensorShard& key, Future<WorkerPosition> position) {
  try {
    const std::uint64_t wanted = position.get().clock;
    for (const auto& [clock, sum] : sums_[key]) {
      if (sum.pushed || clock == wanted) continue;
      answer(key, clock, clock < wanted ? repeat(key, clock) : ready(Reply{.outcome = PushOutcome::ahead}));
    }
  } catch (const Error& error) {
    for (const auto& [clock, sum] : sums_[key]) {
      Promise<Reply> failed;
      failed.set_error(error);
      if (!sum.pushed) answer(key, clock, failed.future());
    }
  }
}

// Answers a sum that the servers above have already.
Future<Reply> LeafServer::repeat(const TensorShard& key, std::uint64_t clock) {
  return above_[key.shard]
      .async<&ParameterService::pull>(
          Pull{.tensor = key.tensor, .shard = key.shard, .worker = index_, .clock = clock + 1})
      .then([](Reply reply) {
        if (reply.outcome == PushOutcome::accepted) reply.outcome = PushOutcome::duplicate;
        return reply;
      });
}

void LeafServer::answer(const TensorShard& key, std::uint64_t clock, Future<Reply> with) {
  sums_[key][clock].pushed = true;
  const Future<void> answered = std::move(with).then([this, key, clock](Future<Reply> reply) {
    const auto sums = sums_.find(key);
    auto sum = sums->second.extract(clock);
    if (sums->second.empty()) sums_.erase(sums);
    try {
      const Reply said = noticed(std::move(reply));
      for (Promise<Reply>& one : sum.mapped().waiting) one.set_value(said);
    } catch (const Error& error) {
      for (Promise<Reply>& one : sum.mapped().waiting) one.set_error(error);
    }
  });
}

// Restarted servers again want the updates that learners made before they left.
Reply LeafServer::noticed(Future<Reply> reply) {
  try {
    Reply said = reply.get();
    if (said.outcome == PushOutcome::ahead) call_back();
    return said;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::disconnected) call_back();
    throw;
  }
}

void LeafServer::call_back() {
  for (auto& [learner, waiting] : std::exchange(left_, {})) {
    for (Promise<void>& one : waiting) {
      one.set_error(Error(ErrorKind::disconnected,
                          "a server was restarted while this worker waited for the others: ask it for its step, and "
                          "continue from there"));
    }
  }
}

Future<Reply> LeafServer::pull(Pull pull) {
  const std::uint32_t shard = pull.shard;
  if (pull.worker != kNoWorker) {
    check_learner(pull.worker);
    pull.worker = index_;
  }
  return above_[shard].async<&ParameterService::pull>(std::move(pull)).then([this](Future<Reply> reply) {
    return noticed(std::move(reply));
  });
}

Future<void> LeafServer::leave(std::uint32_t learner, std::uint32_t shard) {
  check_learner(learner);
  static_cast<void>(above_[shard]);  // throws when there is no such server
  std::vector<Promise<void>>& waiting = left_[learner];
  waiting.emplace_back();
  Future<void> answered = waiting.back().future();
  learners_changed();
  if (has_learners()) ask_whether_all_left(shard);
  return answered;
}

// The learners may have left before this leaf was restarted; then some of them were answered and do not come again.
void LeafServer::ask_whether_all_left(std::uint32_t shard) {
  const Future<void> asked =
      above_[shard].async<&ParameterService::position>(0U, shard, index_).then([this](Future<WorkerPosition> position) {
        try {
          if (position.get().left) answer_left();
        } catch (const Error&) {
          // The servers are being restarted: then all learners leave again.
        }
      });
}

void LeafServer::answer_left() {
  for (auto& [learner, waiting] : left_) {
    for (Promise<void>& one : std::exchange(waiting, {})) one.set_value();
  }
}

void LeafServer::leave_above() {
  std::vector<Future<void>> leaving;
  for (std::uint32_t shard = 0; shard < above_.size(); ++shard) {
    leaving.push_back(above_[shard].async<&ParameterService::leave>(index_, shard));
  }
  const Future<void> left = when_all(std::move(leaving)).then([this](Future<std::vector<std::monostate>> all) {
    try {
      all.get();
      if (!has_learners()) answer_left();
    } catch (const Error& error) {
      for (auto& [learner, waiting] : left_) {
        for (Promise<void>& one : std::exchange(waiting, {})) one.set_error(error);
      }
    }
  });
}

Future<ShardVersions> LeafServer::versions(std::uint32_t tensor, std::uint32_t shard) {
  return above_[shard].async<&ParameterService::versions>(tensor, shard);
}

Future<WorkerPosition> LeafServer::position(std::uint32_t tensor, std::uint32_t shard, std::uint32_t learner) const {
  check_learner(learner);
  return above_[shard].async<&ParameterService::position>(tensor, shard, index_);
}

template const NodeType& internal::node_type<LeafServer>();

}  // namespace lp

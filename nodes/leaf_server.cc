#include "nodes/leaf_server.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "lp/base/error.h"

namespace lp {

LeafServer::LeafServer(Clients<ParameterService> above, std::uint32_t learners, int index)
    : above_(std::move(above)), learners_(learners), index_(static_cast<std::uint32_t>(index)) {
  if (learners == 0) throw Error(ErrorKind::failed, "a leaf server without learners would never push");
}

Future<Reply> LeafServer::push(Push push) {
  Gathering& gathering = gatherings_[{push.tensor, push.shard}];
  if (!push.keys.list.empty()) {
    throw Error(ErrorKind::failed, "a leaf server sums gradients of whole tensors, not of some keys");
  }
  Array<float> values = decode(push.values);
  if (!gathering.pushes.empty() && gathering.pushes.front().values.size() != values.size()) {
    throw Error(ErrorKind::failed, "the gradient of worker " + std::to_string(push.stamp.worker) + " has " +
                                       std::to_string(values.size()) + " values, but another learner's has " +
                                       std::to_string(gathering.pushes.front().values.size()));
  }
  std::uint64_t& clock = gathering.learners[push.stamp.worker];
  if (push.stamp.clock < clock) return ready(Reply{.outcome = PushOutcome::duplicate});
  clock = push.stamp.clock + 1;
  const Place place{push.tensor, push.shard};
  gathering.pushes.push_back({std::move(push), std::move(values)});
  Future<Reply> answered = gathering.pushes.back().promise.future();
  push_when_complete(place);
  return answered;
}

// One gradient, in the order of the learners, as old as the oldest of theirs.
void LeafServer::push_when_complete(const Place& place) {
  Gathering& gathering = gatherings_[place];
  if (gathering.pushes.empty() || gathering.pushes.size() + left_.size() < learners_) return;
  std::vector<Waiting> pushes = std::exchange(gathering.pushes, {});
  std::sort(pushes.begin(), pushes.end(),
            [](const Waiting& a, const Waiting& b) { return a.push.stamp.worker < b.push.stamp.worker; });
  Push sum = pushes.front().push;
  Array<float> values = std::move(pushes.front().values);
  const std::span<float> to = values.edit();
  for (std::size_t k = 1; k < pushes.size(); ++k) {
    sum.examples += pushes[k].push.examples;
    sum.loss += pushes[k].push.loss;
    sum.stamp.version = std::min(sum.stamp.version, pushes[k].push.stamp.version);
    sum.pull = sum.pull || pushes[k].push.pull;
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += pushes[k].values[i];
  }
  sum.stamp.worker = index_;
  sum.stamp.clock = gathering.clock++;
  sum.values = plain(std::move(values));
  Future<Reply> pushed = above_[place.second].async<&ParameterService::push>(std::move(sum));
  const Future<void> answered = std::move(pushed).then([pushes = std::move(pushes)](Future<Reply> done) mutable {
    try {
      const Reply reply = done.get();
      for (Waiting& one : pushes) one.promise.set_value(reply);
    } catch (const Error& error) {
      for (Waiting& one : pushes) one.promise.set_error(error);
    }
  });
}

Future<Reply> LeafServer::pull(Pull pull) {
  const std::uint32_t shard = pull.shard;
  return above_[shard].async<&ParameterService::pull>(std::move(pull));
}

Future<void> LeafServer::leave(std::uint32_t learner) {
  left_.insert(learner);
  if (left_.size() < learners_) {
    for (const auto& [place, gathering] : gatherings_) push_when_complete(place);
    return ready();
  }
  std::vector<Future<void>> all = above_.async<&ParameterService::leave>(index_);
  return when_all(std::move(all)).then([](const auto&) {});
}

Future<ShardVersions> LeafServer::versions(std::uint32_t tensor, std::uint32_t shard) {
  return above_[shard].async<&ParameterService::versions>(tensor, shard);
}

WorkerPosition LeafServer::position(std::uint32_t tensor, std::uint32_t shard, std::uint32_t learner) const {
  const auto gathering = gatherings_.find({tensor, shard});
  if (gathering == gatherings_.end()) return {};
  const auto clock = gathering->second.learners.find(learner);
  return {.version = 0, .clock = clock == gathering->second.learners.end() ? 0 : clock->second};
}

}  // namespace lp

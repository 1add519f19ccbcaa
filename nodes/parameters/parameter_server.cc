#include "nodes/parameters/parameter_server.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "lp/base/error.h"
#include "lp/kernels/device_queue.h"

namespace lp {
namespace {

constexpr std::size_t kMostReads = 1 << 16;  // reads that may wait

std::uint64_t bytes_of(const KeySet& keys) { return keys.list.size() * sizeof(std::uint64_t); }

}  // namespace

std::optional<std::uint64_t> find_common_step(std::span<const ShardVersions> shards) {
  std::uint64_t step = kUnbounded;
  for (const ShardVersions& one : shards) step = std::min(step, one.step);
  const bool all = std::all_of(shards.begin(), shards.end(), [step](const ShardVersions& one) {
    return one.step == step || (one.step == step + 1 && one.previous.size() == one.newest.size());
  });
  return all ? std::optional(step) : std::nullopt;
}

std::uint64_t common_step(std::span<const ShardVersions> shards) {
  if (const std::optional<std::uint64_t> step = find_common_step(shards)) return *step;
  const auto by_step = [](const ShardVersions& a, const ShardVersions& b) { return a.step < b.step; };
  const auto [least, most] = std::minmax_element(shards.begin(), shards.end(), by_step);
  throw Error(ErrorKind::disconnected, "one server is at step " + std::to_string(least->step) +
                                           " and another at step " + std::to_string(most->step) +
                                           ": they are being restored");
}

ParameterServer::ParameterServer(Context& context, std::vector<Tensor> tensors, ParameterServerOptions options,
                                 Clients<ParameterServer> group)
    : context_(context),
      tensors_(std::move(tensors)),
      options_(options),
      group_(std::move(group)),
      own_(static_cast<std::uint32_t>(context.index())),
      servers_(static_cast<std::uint32_t>(context.replicas())),
      queue_(options.on_device ? kernels::device_queue() : nullptr) {
  for (const Tensor& tensor : tensors_) {
    if (tensor.partition.servers() == servers_) continue;
    throw Error(ErrorKind::failed, "a tensor is split over " + std::to_string(tensor.partition.servers()) +
                                       " servers, but there are " + std::to_string(servers_));
  }
  if (options_.replicated && (servers_ < 2 || group_.size() != servers_)) {
    throw Error(ErrorKind::failed, "the other servers hold the replicas: give at least two servers, and their group");
  }
  shards_ = make_shards(own_);
  if (options_.replicated) replicas_ = make_shards((own_ + servers_ - 1) % servers_);
}

ParameterServer::Shards ParameterServer::make_shards(std::uint32_t owner) const {
  Shards shards;
  for (const Tensor& tensor : tensors_) {
    ShardOptions options = options_.shard;
    options.width = tensor.width;
    if (tensor.sparse) {
      shards.push_back(std::make_unique<Shard>(KeyIndex(), Array<float>(), options, queue_.get()));
      continue;
    }
    KeyIndex index(tensor.partition.ranges(owner));
    Array<float> values(std::size_t{index.size()} * tensor.width);
    if (tensor.initial) {
      const std::vector<float> all = tensor.initial(context_.program_seed());
      float* to = values.edit().data();
      for (const KeyRange& range : index.ranges()) {
        const std::size_t begin = range.begin * tensor.width;
        const std::size_t end = (range.last + 1) * tensor.width;
        if (end > all.size()) {
          throw Error(ErrorKind::failed, "a tensor has " + std::to_string(end) + " values or more, but was given " +
                                             std::to_string(all.size()) + " initial values");
        }
        to = std::copy(all.data() + begin, all.data() + end, to);
      }
    }
    shards.push_back(std::make_unique<Shard>(std::move(index), std::move(values), options, queue_.get()));
  }
  return shards;
}

const ParameterServer::Shards& ParameterServer::shards_of(std::uint32_t owner) const {
  if (owner == own_) return shards_;
  if (!replicas_.empty() && owner == (own_ + servers_ - 1) % servers_) return replicas_;
  throw Error(ErrorKind::failed, "shard " + std::to_string(owner) + " is not on server " + std::to_string(own_));
}

Shard& ParameterServer::find(std::uint32_t tensor, std::uint32_t shard) const {
  if (tensor >= tensors_.size()) {
    throw Error(ErrorKind::failed, "there is no tensor " + std::to_string(tensor) + ": there are " +
                                       std::to_string(tensors_.size()) + ", counted from 0");
  }
  return *shards_of(shard)[tensor];
}

Future<Reply> ParameterServer::push(Push push) {
  Shard& shard = find(push.tensor, push.shard);
  statistics_.bytes_received += bytes_of(push.keys) + push.values.bytes();
  if (!lists_.resolve(push.keys)) return ready(Reply{.outcome = PushOutcome::unknown_list});
  const PushOutcome outcome = shard.push(push);
  answer_reads();
  cut_when_due();
  if (replicates(push.shard)) return push_to_replica(std::move(push), outcome);
  return answer(push, outcome);
}

Future<Reply> ParameterServer::answer(const Push& push, PushOutcome outcome) {
  const Shard& shard = find(push.tensor, push.shard);
  if (push.pull && outcome != PushOutcome::ahead) {
    const std::uint64_t clock = outcome == PushOutcome::dropped ? 0 : shard.clock_after(push.stamp);
    return read_when_allowed(shard, clock, push.keys, outcome);
  }
  return ready(Reply{.outcome = outcome,
                     .version = shard.version(),
                     .slowest = shard.slowest(),
                     .loss = shard.loss(),
                     .incarnation = context_.incarnation()});
}

// A duplicate goes to the replica, too, after the push that it repeats: that push may not have arrived there yet.
Future<Reply> ParameterServer::push_to_replica(Push push, PushOutcome outcome) {
  Push copy = push;
  copy.keys.hash = 0;
  Future<void> replicated = group_[replica_of(own_)].async<&ParameterServer::replicate>(std::move(copy));
  try {
    co_await replicated;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::disconnected) throw;
    ++statistics_.unreplicated;
  }
  Future<Reply> answered = answer(push, outcome);
  co_return co_await answered;
}

void ParameterServer::replicate(const Push& push) { find(push.tensor, push.shard).push(push); }

Future<Reply> ParameterServer::pull(Pull pull) {
  statistics_.bytes_received += bytes_of(pull.keys);
  if (!lists_.resolve(pull.keys)) return ready(Reply{.outcome = PushOutcome::unknown_list});
  const Shard& shard = find(pull.tensor, pull.shard);
  if (shard.lost_pushes(pull.worker, pull.clock)) return ready(Reply{.outcome = PushOutcome::ahead});
  return read_when_allowed(shard, pull.clock, std::move(pull.keys), PushOutcome::accepted);
}

Future<Reply> ParameterServer::read_when_allowed(const Shard& shard, std::uint64_t clock, KeySet keys,
                                                 PushOutcome outcome) {
  if (shard.readable(clock)) return ready(read(shard, keys, outcome));
  if (reads_.size() >= kMostReads) {
    throw Error(ErrorKind::overloaded, std::to_string(kMostReads) + " reads already wait for slower workers");
  }
  reads_.push_back({&shard, clock, std::move(keys), outcome, Promise<Reply>()});
  return reads_.back().promise.future();
}

Reply ParameterServer::read(const Shard& shard, const KeySet& keys, PushOutcome outcome) {
  Reply reply = shard.read(keys);
  reply.outcome = outcome;
  reply.incarnation = context_.incarnation();
  statistics_.bytes_sent += reply.values.size() * sizeof(float) + reply.keys.size() * sizeof(std::uint64_t);
  return reply;
}

void ParameterServer::answer_reads() {
  std::erase_if(reads_, [this](WaitingRead& waiting) {
    if (!waiting.shard->readable(waiting.clock)) return false;
    try {
      waiting.promise.set_value(read(*waiting.shard, waiting.keys, waiting.outcome));
    } catch (const Error& error) {
      waiting.promise.set_error(error);
    }
    return true;
  });
}

Future<void> ParameterServer::leave(std::uint32_t worker, std::uint32_t shard) {
  for (const auto& one : shards_of(shard)) one->leave(worker);
  answer_reads();
  cut_when_due();
  if (!replicates(shard)) co_return;
  Future<void> replicated = group_[replica_of(own_)].async<&ParameterServer::replicate_leave>(worker);
  try {
    co_await replicated;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::disconnected) throw;
  }
}

void ParameterServer::replicate_leave(std::uint32_t worker) {
  for (const auto& shard : replicas_) shard->leave(worker);
  answer_reads();
}

Future<ShardVersions> ParameterServer::versions(std::uint32_t tensor, std::uint32_t number) {
  const Shard& shard = find(tensor, number);
  ShardVersions out{.step = shard.version(), .previous = shard.previous(), .incarnation = context_.incarnation()};
  if (shard.index().dense()) {
    out.ranges.assign(shard.index().ranges().begin(), shard.index().ranges().end());
    out.newest = shard.values();
  } else {
    Reply all = shard.read({});
    out.keys = std::move(all.keys);
    out.newest = std::move(all.values);
  }
  return ready(std::move(out));
}

Future<WorkerPosition> ParameterServer::position(std::uint32_t tensor, std::uint32_t shard,
                                                 std::uint32_t worker) const {
  const Shard& found = find(tensor, shard);
  return ready(
      WorkerPosition{.version = found.version(), .clock = found.clock(worker), .left = found.has_left(worker)});
}

ServerStatistics ParameterServer::statistics() const {
  ServerStatistics out = statistics_;
  for (const auto& shard : shards_) out.shards.add(shard->statistics());
  return out;
}

void ParameterServer::cut_when_due() {
  if (shards_.empty()) return;
  std::uint64_t step = kUnbounded;
  for (const auto& shard : shards_) {
    if (shard->index().size() > 0) step = std::min(step, shard->version());
  }
  if (step == kUnbounded) step = shards_[0]->version();  // it has no keys, and does the steps of the first tensor
  if (step == cut_at_) return;
  // With backup workers, a server may do more updates than the last step, and another one does not.
  const bool synchronous = std::holds_alternative<Synchronous>(options_.shard.consistency);
  if (synchronous && options_.last_step != 0 && step > options_.last_step) return;
  const bool due = options_.checkpoint_every != 0 && step % options_.checkpoint_every == 0;
  const bool over = options_.last_step != 0 && (step == options_.last_step || shards_[0]->all_left());
  if (due || over) context_.checkpoint(cut_at_ = step);
}

void ParameterServer::save(Checkpoint& out) const {
  out.put("seed", context_.program_seed());
  const auto put = [&out](const Shards& shards, const std::string& prefix) {
    for (std::size_t i = 0; i < shards.size(); ++i) {
      shards[i]->save(out, prefix + (i == 0 ? std::string() : std::to_string(i) + "/"));
    }
  };
  put(shards_, "");
  put(replicas_, "replica/");
}

void ParameterServer::load(const Checkpoint& in) {
  const auto get = [&in](const Shards& shards, const std::string& prefix) {
    for (std::size_t i = 0; i < shards.size(); ++i) {
      shards[i]->load(in, prefix + (i == 0 ? std::string() : std::to_string(i) + "/"));
    }
  };
  get(shards_, "");
  get(replicas_, "replica/");
  if (const auto seed = in.get<std::uint64_t>("seed"); seed != context_.program_seed()) {
    throw Error(ErrorKind::failed, "the checkpoint belongs to a run with seed " + std::to_string(seed) +
                                       ": with a different seed, workers would continue with other batches, and the "
                                       "data would be split differently");
  }
  for (const auto& shard : shards_) cut_at_ = std::max(cut_at_, shard->version());
}

template const NodeType& internal::node_type<ParameterServer>();

}  // namespace lp

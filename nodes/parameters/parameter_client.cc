#include "nodes/parameters/parameter_client.h"

#include <algorithm>
#include <string>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/hash.h"

namespace lp {
namespace {

constexpr std::size_t kMostKnown = 4096;                // how many lists of a server a client remembers
constexpr auto kUsual = std::chrono::milliseconds(10);  // how long to wait for one reply before looking at the others

}  // namespace

ParameterClient::ParameterClient(Clients<ParameterService> servers, std::vector<Tensor> tensors,
                                 ParameterClientOptions options)
    : servers_(std::move(servers)),
      tensors_(std::move(tensors)),
      options_(options),
      dense_(tensors_.size()),
      rows_(tensors_.size()) {
  for (std::uint32_t tensor = 0; tensor < tensors_.size(); ++tensor) {
    for (std::uint32_t shard = 0; shard < servers_.size(); ++shard) {
      const std::uint64_t seed = hash_combine(hash_combine(options_.seed, tensor), shard);
      shards_.push_back({.serves = shard, .feedback = ErrorFeedback(options_.compression, seed)});
    }
  }
  for (std::uint32_t shard = 0; shard < servers_.size(); ++shard) {
    bool idle = true;
    for (std::uint32_t tensor = 0; tensor < tensors_.size(); ++tensor) {
      if (tensors_[tensor].sparse) continue;
      Part part{.server = shard};
      for (const KeyRange& range : tensors_[tensor].partition.ranges(shard)) {
        part.pieces.push_back({range.begin, range.last - range.begin + 1});
      }
      if (part.pieces.empty()) continue;
      idle = false;
      dense_[tensor].push_back(std::move(part));
    }
    // A server without keys also does the steps of the first tensor, so that it takes part in every cut.
    if (idle && !tensors_.empty() && !tensors_[0].sparse) dense_[0].push_back({.server = shard});
  }
}

const std::vector<ParameterClient::Part>& ParameterClient::cut_rows(std::uint32_t tensor,
                                                                    const Array<std::uint64_t>& keys) {
  RowCut& cut = rows_[tensor];
  const bool same = cut.keys.data() == keys.data() && cut.keys.size() == keys.size();  // shared arrays do not change
  if (same && !cut.parts.empty()) return cut.parts;
  std::vector<Part> parts(servers_.size());
  std::size_t at = 0;
  for (const Partition::Segment& segment : tensors_[tensor].partition.segments()) {
    if (at == keys.size()) break;
    if (keys[at] > segment.keys.last) continue;
    const std::uint64_t* const end = std::upper_bound(keys.begin() + at, keys.end(), segment.keys.last);
    const auto next = static_cast<std::size_t>(end - keys.begin());
    parts[segment.server].pieces.push_back({at, next - at});
    at = next;
  }
  if (at < keys.size()) throw Error(ErrorKind::failed, "no server owns key " + std::to_string(keys[at]));
  cut = {.keys = keys};
  for (std::uint32_t server = 0; server < parts.size(); ++server) {
    Part& part = parts[server];
    part.server = server;
    if (part.pieces.empty()) {
      cut.parts.push_back(std::move(part));
      continue;
    }
    if (part.pieces.size() == 1 && part.pieces[0].count == keys.size()) {
      part.keys = keys;
    } else {
      std::size_t count = 0;
      for (const Piece& piece : part.pieces) count += piece.count;
      part.keys = Array<std::uint64_t>::uninitialized(count);
      std::uint64_t* to = part.keys.edit().data();
      for (const Piece& piece : part.pieces) to = std::copy_n(keys.data() + piece.at, piece.count, to);
    }
    part.hash = hash_of(part.keys);
    cut.parts.push_back(std::move(part));
  }
  return cut.parts;
}

// Copies into the memory of the previous push. Its server has dropped that memory when the push was acknowledged, and
// fresh pages would cost more than the copy.
Array<float> ParameterClient::gather(std::uint32_t tensor, const Part& part, std::span<const float> values) {
  const std::size_t width = tensors_[tensor].width;
  std::size_t rows = 0;
  for (const Piece& piece : part.pieces) rows += piece.count;
  Array<float>& out = shard_state(tensor, part.server).sent;
  if (out.size() != rows * width) out = Array<float>::uninitialized(rows * width);
  float* to = out.edit().data();
  for (const Piece& piece : part.pieces) to = std::copy_n(values.data() + piece.at * width, piece.count * width, to);
  return out;
}

// Filters, checks and clips the whole gradient, so that the result is the same for any number of servers.
std::span<const float> ParameterClient::accepted(std::span<const float> gradient) {
  if (options_.filter) {
    changed_.assign(gradient.begin(), gradient.end());
    options_.filter(changed_);
    gradient = changed_;
  }
  if (!must_clip(options_.bad_values, gradient, "the gradient of worker " + std::to_string(options_.worker))) {
    return gradient;
  }
  if (!options_.filter) changed_.assign(gradient.begin(), gradient.end());
  clip(changed_);
  return changed_;
}

void ParameterClient::scatter(std::uint32_t tensor, const Part& part, const Array<float>& values,
                              std::span<float> to) const {
  const std::size_t width = tensors_[tensor].width;
  std::size_t rows = 0;
  for (const Piece& piece : part.pieces) rows += piece.count;
  if (values.size() != rows * width) {
    throw Error(ErrorKind::failed, "server " + std::to_string(part.server) + " has sent " +
                                       std::to_string(values.size()) + " values instead of " +
                                       std::to_string(rows * width) + ": do server and worker have the same tensors?");
  }
  const float* from = values.data();
  for (const Piece& piece : part.pieces) {
    std::copy(from, from + piece.count * width, to.data() + piece.at * width);
    from += piece.count * width;
  }
}

ParameterClient::Sending ParameterClient::prepare(std::uint32_t tensor, const std::vector<Part>& parts,
                                                  std::uint64_t clock, std::span<float> to) const {
  Sending sending{.tensor = tensor, .to = to};
  for (const Part& part : parts) {
    Sent sent{.part = part};
    sent.pull = {.tensor = tensor, .shard = part.server, .worker = options_.worker, .clock = clock};
    sent.pull.keys = {.list = part.keys, .hash = part.hash};
    if (part.pieces.empty()) sent.pull.keys.range = {.begin = 1, .last = 0};
    sending.parts.push_back(std::move(sent));
  }
  return sending;
}

ParameterClient::Request ParameterClient::keep(Sending sending) {
  Request request;
  request.number_ = ++last_request_;
  requests_.emplace(request.number_, std::move(sending));
  return request;
}

ParameterClient::Request ParameterClient::start_pull(std::uint32_t tensor, std::uint64_t clock, std::span<float> to) {
  Sending sending = prepare(tensor, dense_[tensor], clock, to);
  for (Sent& sent : sending.parts) send(sent);
  return keep(std::move(sending));
}

ParameterClient::Request ParameterClient::start_pull_rows(std::uint32_t tensor, std::uint64_t clock,
                                                          const Array<std::uint64_t>& keys, std::span<float> to) {
  Sending sending = prepare(tensor, cut_rows(tensor, keys), clock, to);
  std::erase_if(sending.parts, [](const Sent& sent) { return sent.part.pieces.empty(); });
  for (Sent& sent : sending.parts) send(sent);
  return keep(std::move(sending));
}

ParameterClient::Request ParameterClient::start_push(std::uint32_t tensor, std::uint64_t clock,
                                                     std::span<const float> gradient, std::uint32_t examples,
                                                     std::span<float> to, double loss) {
  gradient = accepted(gradient);
  Sending sending = prepare(tensor, dense_[tensor], clock, to);
  for (Sent& sent : sending.parts) {
    const Array<float> values = gather(tensor, sent.part, gradient);
    ErrorFeedback& feedback = shard_state(tensor, sent.part.server).feedback;
    send_push(sent, examples, !to.empty(),
              options_.compression.any() ? feedback.encode(values.span(), clock) : plain(values), loss);
  }
  return keep(std::move(sending));
}

ParameterClient::Request ParameterClient::start_push(std::uint32_t tensor, std::uint64_t clock, Encoded gradient,
                                                     std::uint32_t examples) {
  Sending sending = prepare(tensor, dense_[tensor], clock, {});
  const auto owns = [](const Sent& sent) { return !sent.part.pieces.empty(); };
  const auto owner = std::find_if(sending.parts.begin(), sending.parts.end(), owns);
  if (std::count_if(sending.parts.begin(), sending.parts.end(), owns) != 1) {
    throw Error(ErrorKind::failed, "an encoded gradient can go only to one server, but tensor " +
                                       std::to_string(tensor) + " is split over several");
  }
  for (Sent& sent : sending.parts) {
    if (!owns(sent)) send_push(sent, examples, false, plain({}));  // it does the steps of the first tensor
  }
  send_push(*owner, examples, false, std::move(gradient));
  return keep(std::move(sending));
}

ParameterClient::Request ParameterClient::start_push_rows(std::uint32_t tensor, std::uint64_t clock,
                                                          const Array<std::uint64_t>& keys,
                                                          const Array<float>& gradient, std::uint32_t examples,
                                                          std::span<float> to) {
  if (gradient.size() != keys.size() * tensors_[tensor].width) {
    throw Error(ErrorKind::failed, "a gradient of " + std::to_string(gradient.size()) + " values for " +
                                       std::to_string(keys.size()) + " rows of " +
                                       std::to_string(tensors_[tensor].width));
  }
  if (options_.compression.any()) {
    throw Error(ErrorKind::failed,
                "a gradient of some rows cannot be compressed: push all rows, or leave out the compression of worker " +
                    std::to_string(options_.worker));
  }
  const std::span<const float> values = accepted(gradient.span());
  Sending sending = prepare(tensor, cut_rows(tensor, keys), clock, to);
  for (Sent& sent : sending.parts) {
    const bool as_it_is =
        values.data() == gradient.data() && sent.part.pieces.size() == 1 && sent.part.pieces[0].count == keys.size();
    send_push(sent, examples, !to.empty(), plain(as_it_is ? gradient : gather(tensor, sent.part, values)));
  }
  return keep(std::move(sending));
}

void ParameterClient::send_push(Sent& sent, std::uint32_t examples, bool pull, Encoded values, double loss) {
  sent.pushes = true;
  Push& push = sent.push;
  push.tensor = sent.pull.tensor;
  push.shard = sent.part.server;
  ShardState& at = shard_state(push.tensor, push.shard);
  push.stamp = {.worker = options_.worker, .clock = sent.pull.clock, .version = at.version, .previous = at.clock};
  at.clock = push.stamp.clock + 1;
  push.examples = examples;
  push.loss = loss;
  push.keys = sent.pull.keys;
  push.values = std::move(values);
  push.pull = pull;
  send(sent);
}

void ParameterClient::send(Sent& sent) {
  ShardState& at = shard_state(sent.pull.tensor, sent.part.server);
  KeySet& keys = sent.pushes ? sent.push.keys : sent.pull.keys;
  keys.list = keys.hash != 0 && at.known.contains(keys.hash) ? Array<std::uint64_t>() : sent.part.keys;
  if (keys.hash != 0) {
    if (at.known.size() >= kMostKnown) at.known.clear();
    at.known.insert(keys.hash);
  }
  traffic_.sent += keys.list.size() * sizeof(std::uint64_t) + (sent.pushes ? sent.push.values.bytes() : 0);
  sent.asked = at.serves;
  sent.watched = false;
  const Client<ParameterService> server = servers_[at.serves].awaited();
  sent.reply =
      sent.pushes ? server.async<&ParameterService::push>(sent.push) : server.async<&ParameterService::pull>(sent.pull);
}

// Usually the awaited reply is the next one, and this thread fetches it.
void ParameterClient::await(Sent& sent) {
  while (!sent.answer.has_value()) take(sent.reply.wait_for(kUsual) ? sent : first_ready());
}

// The replies become ready in any order. Each of them is watched once, however many others come before it.
ParameterClient::Sent& ParameterClient::first_ready() {
  for (auto& [number, sending] : requests_) {
    for (std::size_t i = 0; i < sending.parts.size(); ++i) {
      Sent& sent = sending.parts[i];
      if (sent.answer.has_value() || std::exchange(sent.watched, true)) continue;
      rpc::on_ready_anywhere(*sent.reply.state(), [ready = ready_, number = number, i] { ready->put({number, i}); });
    }
  }
  for (;;) {
    const auto [number, i] = ready_->next().get().value();
    const auto at = requests_.find(number);
    if (at == requests_.end()) continue;  // it has failed
    Sent& sent = at->second.parts[i];
    if (!sent.answer.has_value() && sent.reply.ready()) return sent;
  }
}

// Returns whether a request that failed at the server `asked` can be sent to the replica. If so, the replica serves the
// shard from now on.
bool ParameterClient::turn_to_replica(ShardState& at, std::uint32_t shard, std::uint32_t asked,
                                      const Error& error) const {
  const auto replica = static_cast<std::uint32_t>((shard + 1) % servers_.size());
  if (error.kind() != ErrorKind::disconnected || !options_.replicated) return false;
  if (asked == replica) {
    check_shard(shard, replica);
    return false;
  }
  if (at.serves != replica) at.known.clear();
  at.serves = replica;
  return true;
}

// Unrecoverable when both servers of the shard have gone for good.
void ParameterClient::check_shard(std::uint32_t shard, std::uint32_t replica) const {
  const Clients<ParameterService> there = servers_.latest();
  for (std::size_t i = 0; i < there.size(); ++i) {
    if (there.replica(i) == shard || there.replica(i) == replica) return;
  }
  throw Unrecoverable("shard " + std::to_string(shard) + " of the parameters is lost: server/" + std::to_string(shard) +
                      " and server/" + std::to_string(replica) + ", which had its replica, have failed");
}

// Returns the result of ask(server). `first` is the pending result of the server that serves the shard.
template <class Result, class Ask>
Result ParameterClient::answer(Future<Result> first, ShardState& at, std::uint32_t shard, const Ask& ask) const {
  const std::uint32_t asked = at.serves;
  try {
    return first.get();
  } catch (const Error& error) {
    if (!turn_to_replica(at, shard, asked, error)) throw;
  }
  return ask(servers_[at.serves]).get();
}

// Takes a reply that is there. The request may have to be sent again.
void ParameterClient::take(Sent& sent) {
  ShardState& at = shard_state(sent.pull.tensor, sent.part.server);
  try {
    sent.answer = sent.reply.get();
  } catch (const Error& error) {
    if (!turn_to_replica(at, sent.part.server, sent.asked, error)) throw;
    return send(sent);
  }
  if (sent.answer->outcome == PushOutcome::unknown_list) {
    sent.answer.reset();
    at.known.clear();
    return send(sent);
  }
  const bool restarted = at.incarnation != 0 && sent.answer->incarnation != at.incarnation;
  if (sent.answer->outcome == PushOutcome::ahead || restarted) {
    throw Error(
        ErrorKind::disconnected,
        "a server was restarted since it was read, and may be behind: ask it for its step, and continue from there");
  }
}

Arrival ParameterClient::wait(Request request) {
  const auto at = requests_.find(request.number_);
  if (at == requests_.end()) {
    throw Error(ErrorKind::disconnected, "this request ended because another request of its worker failed");
  }
  try {
    const Arrival arrival = finish(at->second);
    requests_.erase(at);
    return arrival;
  } catch (...) {
    requests_.clear();
    throw;
  }
}

Arrival ParameterClient::finish(Sending& sending) {
  Arrival arrival{.oldest = kUnbounded, .slowest = kUnbounded};
  for (Sent& sent : sending.parts) {
    await(sent);
    const Reply& reply = *sent.answer;
    if (reply.outcome == PushOutcome::dropped) ++arrival.dropped;
    if (reply.version >= arrival.newest) arrival.loss = reply.loss;
    arrival.newest = std::max(arrival.newest, reply.version);
    arrival.oldest = std::min(arrival.oldest, reply.version);
    arrival.slowest = std::min(arrival.slowest, reply.slowest);
    if (sending.to.empty()) continue;
    traffic_.received += reply.values.size() * sizeof(float);
    shard_state(sending.tensor, sent.part.server).version = reply.version;
    scatter(sending.tensor, sent.part, reply.values, sending.to);
  }
  return arrival;
}

std::uint64_t ParameterClient::pull_common(std::uint32_t tensor, std::span<float> to) {
  const auto ask = [tensor](std::uint32_t shard) {
    return [tensor, shard](const Client<ParameterService>& server) {
      return server.async<&ParameterService::versions>(tensor, shard);
    };
  };
  std::vector<Future<ShardVersions>> futures;
  for (const Part& part : dense_[tensor]) {
    futures.push_back(ask(part.server)(servers_[shard_state(tensor, part.server).serves]));
  }
  std::vector<ShardVersions> all;
  for (std::size_t i = 0; i < futures.size(); ++i) {
    const std::uint32_t shard = dense_[tensor][i].server;
    all.push_back(answer(std::move(futures[i]), shard_state(tensor, shard), shard, ask(shard)));
  }
  const std::uint64_t step = common_step(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Part& part = dense_[tensor][i];
    scatter(tensor, part, all[i].at(step), to);
    ShardState& at = shard_state(tensor, part.server);
    at.version = step;
    at.clock = 0;
    // A replica goes on where its primary was; it does not go back.
    at.incarnation = options_.replicated ? 0 : all[i].incarnation;
    traffic_.received += all[i].newest.size() * sizeof(float);
  }
  return step;
}

std::uint64_t ParameterClient::position() {
  std::uint64_t clock = kUnbounded;
  for (std::uint32_t tensor = 0; tensor < tensors_.size(); ++tensor) {
    for (std::uint32_t shard = 0; shard < servers_.size(); ++shard) {
      ShardState& at = shard_state(tensor, shard);
      at.clock = at.version = 0;
      at.incarnation = 0;
      if (!has_rows(tensor, shard)) continue;
      const auto ask = [&](const Client<ParameterService>& server) {
        return server.async<&ParameterService::position>(tensor, shard, options_.worker);
      };
      const WorkerPosition there = answer(ask(servers_[at.serves]), at, shard, ask);
      at.clock = there.clock;
      at.version = there.version;
      clock = std::min(clock, at.clock);
    }
  }
  return clock;
}

void ParameterClient::confirm(const Clients<ParameterService>& roots, std::uint32_t pusher) {
  struct Asked {
    std::uint32_t tensor;
    std::uint32_t shard;
    Future<WorkerPosition> position;
  };
  const auto ask = [pusher](std::uint32_t tensor, std::uint32_t shard) {
    return [=](const Client<ParameterService>& server) {
      return server.async<&ParameterService::position>(tensor, shard, pusher);
    };
  };
  std::vector<Asked> asked;
  for (std::uint32_t tensor = 0; tensor < tensors_.size(); ++tensor) {
    for (std::uint32_t shard = 0; shard < servers_.size(); ++shard) {
      if (has_rows(tensor, shard)) {
        asked.push_back({tensor, shard, ask(tensor, shard)(roots[shard_state(tensor, shard).serves])});
      }
    }
  }
  for (Asked& one : asked) {
    ShardState& at = shard_state(one.tensor, one.shard);
    const WorkerPosition there = answer(std::move(one.position), at, one.shard, ask(one.tensor, one.shard));
    if (there.clock >= at.clock && there.version >= at.version) continue;
    throw Error(ErrorKind::disconnected, "a server was restarted, and does not have everything that worker " +
                                             std::to_string(options_.worker) +
                                             " has pushed: ask it for its step, and continue from there");
  }
}

void ParameterClient::set_version(std::uint64_t version) {
  for (ShardState& at : shards_) at.version = version;
}

std::vector<Array<float>> ParameterClient::residuals() const {
  std::vector<Array<float>> out;
  for (const ShardState& at : shards_) out.push_back(Array<float>::copy_of(at.feedback.residual()));
  return out;
}

void ParameterClient::restore(std::span<const Array<float>> residuals) {
  if (residuals.size() != shards_.size()) {
    throw Error(ErrorKind::failed, "the checkpoint has the compression residuals of " +
                                       std::to_string(residuals.size()) + " shards, but there are " +
                                       std::to_string(shards_.size()) + ": resume with the same number of servers");
  }
  for (std::size_t i = 0; i < shards_.size(); ++i) shards_[i].feedback.restore(residuals[i].span());
}

void ParameterClient::leave() {
  const auto ask = [this](std::uint32_t shard) {
    return [this, shard](const Client<ParameterService>& server) {
      return server.async<&ParameterService::leave>(options_.worker, shard);
    };
  };
  std::vector<Future<void>> futures;
  for (std::uint32_t shard = 0; shard < servers_.size(); ++shard) {
    futures.push_back(ask(shard)(servers_[shard_state(0, shard).serves]));
  }
  for (std::uint32_t shard = 0; shard < servers_.size(); ++shard) {
    answer(std::move(futures[shard]), shard_state(0, shard), shard, ask(shard));
  }
}

}  // namespace lp

#pragma once
// A worker's side of a group of parameter servers. It splits pushes into the parts of the servers, joins pulled rows,
// compresses gradients, sends a key list that a server knows as its hash, and turns to the replica of a server that is
// gone.
//
// Owned by a worker; one thread at a time.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "lp/base/array.h"
#include "lp/base/error.h"
#include "lp/rpc/clients.h"
#include "lp/rpc/core/future.h"
#include "lp/rpc/stream.h"
#include "nodes/parameters/gradient_encoding.h"
#include "nodes/parameters/parameter_messages.h"
#include "nodes/parameters/parameter_server.h"

namespace lp {

struct ParameterClientOptions {
  std::uint32_t worker = 0;
  bool replicated = false;           // as the servers are
  CompressionOptions compression{};  // for gradients of a whole tensor, with error feedback
  // a user's function: changes a gradient first, before it is checked and compressed
  std::function<void(std::span<float>)> filter{};
  BadValues bad_values = BadValues::refuse;  // applied to a pushed gradient before it is compressed
  std::uint64_t seed = 0;                    // for the random choices of compression in a worker's step
};

// The result of a push or pull at all servers that it went to.
struct Arrival {
  std::uint64_t newest = 0;  // the newest version of a shard
  std::uint64_t oldest = 0;
  std::uint64_t slowest = 0;  // the lowest clock of a worker
  std::uint32_t dropped = 0;  // shards that dropped the gradient
  double loss = 0;            // mean over the examples of the newest update
};

struct Traffic {
  std::uint64_t sent = 0;  // bytes of keys and values
  std::uint64_t received = 0;
};

class ParameterClient {
 public:
  // `servers` serve the shards 0, 1, ... of these tensors; one may serve several.
  ParameterClient(Clients<ParameterService> servers, std::vector<Tensor> tensors, ParameterClientOptions options);

  class Request;  // to every server that has some of the keys

  // Pulls all rows of a dense tensor, as the consistency model allows a worker at this clock to see them. The worker's
  // earlier pushes must have been sent. The rows go to `to`, which must live until wait().
  Request start_pull(std::uint32_t tensor, std::uint64_t clock, std::span<float> to);
  // Pushes a gradient of all of a dense tensor. Gradient and loss are summed over `examples`. With `to`, the rows after
  // the update go there. Error::failed when the policy refuses its values.
  Request start_push(std::uint32_t tensor, std::uint64_t clock, std::span<const float> gradient, std::uint32_t examples,
                     std::span<float> to = {}, double loss = 0);
  // The same for a tensor that is whole at one server and a gradient that is encoded already; it returns no rows.
  // Error::failed when the tensor is at several servers.
  Request start_push(std::uint32_t tensor, std::uint64_t clock, Encoded gradient, std::uint32_t examples);
  // The same for the rows of these keys, which ascend. A push goes to every server, even without keys, since it counts
  // there as the worker's next clock; a pull goes to the servers that have some of the keys. Error::failed for a push
  // with compression, whose error feedback needs all rows.
  Request start_pull_rows(std::uint32_t tensor, std::uint64_t clock, const Array<std::uint64_t>& keys,
                          std::span<float> to);
  Request start_push_rows(std::uint32_t tensor, std::uint64_t clock, const Array<std::uint64_t>& keys,
                          const Array<float>& gradient, std::uint32_t examples, std::span<float> to = {});

  // Error::disconnected when a server is gone and has no replica, or was restarted and is behind this worker: go on
  // from its state. Other errors are those of Shard::push. An error of any pending request counts at once, and ends all
  // of them, because the others may never be answered.
  Arrival wait(Request request);

  // Pulls the newest version of a dense tensor that all shards of a synchronous group have, and returns its number. The
  // next push counts as computed from it. Error::disconnected when they have none in common, as while they are being
  // restored.
  // A server that is restarted after it makes wait() fail with Error::disconnected, unless servers are replicated: the
  // others may have gone back too, behind a push that they have answered.
  std::uint64_t pull_common(std::uint32_t tensor, std::span<float> to);

  // The lowest clock for which a server needs a push of this worker. The next push counts as computed from the present
  // versions, until a pull.
  std::uint64_t position();
  // Returns when the servers have all that this worker has pushed and read since it last asked where they are, by
  // position() or a pull. `roots` are the servers themselves, also where `servers` are leaves. The roots know this
  // worker, or the leaf above it, as worker `pusher`. Error::disconnected when a server was restarted and has less.
  void confirm(const Clients<ParameterService>& roots, std::uint32_t pusher);
  // For a worker that keeps the parameters itself: its next push counts as computed from this version.
  void set_version(std::uint64_t version);
  // This worker pushes no more. Error::disconnected when a server is gone and has no replica.
  void leave();

  // The residuals of compression, by tensor and shard. With them, another client goes on as this one would.
  // Error::failed for residuals of other servers or tensors.
  std::vector<Array<float>> residuals() const;
  void restore(std::span<const Array<float>> residuals);

  const Traffic& traffic() const { return traffic_; }

 private:
  // Rows that lie together, by their positions among all rows of a request.
  struct Piece {
    std::size_t at = 0;
    std::size_t count = 0;
  };
  // The part of a request's keys that one server has, maybe none. keys and hash are empty for all of a dense tensor.
  struct Part {
    std::uint32_t server = 0;
    std::vector<Piece> pieces{};
    Array<std::uint64_t> keys{};
    std::uint64_t hash = 0;
  };
  struct Sent {
    Part part{};
    std::uint32_t asked = 0;  // which server
    bool pushes = false;      // `push` counts, else `pull`
    Push push{};
    Pull pull{};
    Future<Reply> reply{};
    bool watched = false;  // ready_ will have the reply
    std::optional<Reply> answer{};
  };
  struct Sending {
    std::uint32_t tensor = 0;
    std::vector<Sent> parts{};
    std::span<float> to{};
  };
  struct ShardState {                 // A shard as this worker knows it.
    std::uint32_t serves = 0;         // which server
    std::uint64_t version = 0;        // the version that was read last
    std::uint64_t clock = 0;          // the clock after the last push
    std::uint32_t incarnation = 0;    // the one that pull_common() read last; 0: any
    std::set<std::uint64_t> known{};  // hashes of lists that it was sent
    Array<float> sent{};              // values of the last push
    ErrorFeedback feedback;
  };
  struct RowCut {  // The split of the keys of the last request by keys.
    Array<std::uint64_t> keys{};
    std::vector<Part> parts{};
  };

  bool has_rows(std::uint32_t tensor, std::uint32_t shard) const {
    return !tensors_[tensor].partition.ranges(shard).empty();
  }
  ShardState& shard_state(std::uint32_t tensor, std::uint32_t shard) {
    return shards_[tensor * servers_.size() + shard];
  }
  const std::vector<Part>& cut_rows(std::uint32_t tensor, const Array<std::uint64_t>& keys);
  Sending prepare(std::uint32_t tensor, const std::vector<Part>& parts, std::uint64_t clock, std::span<float> to) const;
  Request keep(Sending sending);
  void send_push(Sent& sent, std::uint32_t examples, bool pull, Encoded values, double loss = 0);
  void send(Sent& sent);
  Arrival finish(Sending& sending);
  void await(Sent& sent);
  Sent& first_ready();
  void take(Sent& sent);
  bool turn_to_replica(ShardState& at, std::uint32_t shard, std::uint32_t asked, const Error& error) const;
  void check_shard(std::uint32_t shard, std::uint32_t replica) const;
  template <class Result, class Ask>
  Result answer(Future<Result> first, ShardState& at, std::uint32_t shard, const Ask& ask) const;
  void scatter(std::uint32_t tensor, const Part& part, const Array<float>& values, std::span<float> to) const;
  Array<float> gather(std::uint32_t tensor, const Part& part, std::span<const float> values);
  std::span<const float> accepted(std::span<const float> gradient);

  Clients<ParameterService> servers_;
  std::vector<Tensor> tensors_;
  ParameterClientOptions options_;
  std::vector<std::vector<Part>> dense_;       // by tensor
  std::vector<RowCut> rows_;                   // by tensor
  std::vector<ShardState> shards_;             // by tensor and shard
  std::map<std::uint64_t, Sending> requests_;  // the requests that nobody has waited for yet
  std::uint64_t last_request_ = 0;
  // The replies that have come: request and part. Shared with the calls that bring them.
  using ReadyQueue = rpc::StreamQueue<std::pair<std::uint64_t, std::size_t>>;
  std::shared_ptr<ReadyQueue> ready_ = std::make_shared<ReadyQueue>();
  std::vector<float> changed_{};  // a gradient after filter or clipping
  Traffic traffic_{};
};

class ParameterClient::Request {
 private:
  friend class ParameterClient;
  std::uint64_t number_ = 0;
};

}  // namespace lp

#pragma once
// A server of parameters. A group of servers holds tensors, whose keys a Partition splits among them; the part of a
// tensor at one server is a Shard. Workers push gradients and pull rows. A consistency model decides when a gradient is
// applied and when a read is answered. Clients are in parameter_client.h, workers and their schemes in programs/.
//
// A node: its handlers run in its turn. Pushes and reads that must wait hold neither turn nor thread.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lp/base/array.h"
#include "lp/checkpoint/checkpoint.h"
#include "lp/program/context.h"
#include "lp/program/node_type.h"
#include "lp/rpc/clients.h"
#include "lp/rpc/core/future.h"
#include "lp/rpc/core/method.h"
#include "nodes/parameters/key_lists.h"
#include "nodes/parameters/parameter_messages.h"
#include "nodes/parameters/partition.h"
#include "nodes/parameters/shard.h"

namespace lp {

// A tensor of a group of servers, the same for all servers and clients.
struct Tensor {
  Partition partition;
  std::uint32_t width = 1;  // values of a row
  bool sparse = false;      // a row is created by its first push; until then it is 0
  // Dense: all rows in the order of their keys, from the program's seed, the same in every server. Empty: zeros.
  std::function<std::vector<float>(std::uint64_t seed)> initial{};
};

// The present state of a shard. `previous` is the version before, if the shard is synchronous and did a step since it
// was started.
struct ShardVersions {
  std::uint64_t step = 0;
  std::vector<KeyRange> ranges{};  // dense: the keys of the values
  Array<std::uint64_t> keys{};     // sparse: the same
  Array<float> newest{};
  Array<float> previous{};
  std::uint32_t incarnation = 0;  // that of the server, from 1

  // The values of a step that common_step() gave.
  const Array<float>& at(std::uint64_t wanted) const { return wanted == step ? newest : previous; }
};

// The newest step of which all shards of a synchronous tensor still have the version. The first function returns
// nothing when there is none, as while servers are being restored; the other throws Error::disconnected: call again.
std::optional<std::uint64_t> find_common_step(std::span<const ShardVersions> shards);
std::uint64_t common_step(std::span<const ShardVersions> shards);

// Where a worker that lost its place goes on.
struct WorkerPosition {
  std::uint64_t version = 0;  // the shard's version
  std::uint64_t clock = 0;    // the clock of the worker's next push
  bool left = false;          // the worker has left, and has not pushed since
};

struct ServerStatistics {
  ShardStatistics shards{};
  std::uint64_t bytes_received = 0;  // keys and values of pushes and reads
  std::uint64_t bytes_sent = 0;      // values of replies
  std::uint64_t unreplicated = 0;    // pushes that were acknowledged without a replica, because the replica was gone
};

// The interface of a server of parameters for its workers: a server, or a leaf between workers and servers.
class ParameterService {
 public:
  virtual ~ParameterService() = default;

  // Shard::push defines the outcome and the errors. Answers when the replica, if there is one, has the push too. If the
  // rows are to be returned, it also waits until the consistency model allows this worker to read them.
  virtual Future<Reply> push(Push push) = 0;
  // The rows, as soon as the consistency model allows a worker of this clock to see them.
  virtual Future<Reply> pull(Pull pull) = 0;
  // The worker pushes no more to this shard of any tensor. Answers when the replica, if there is one, knows it. A leaf
  // has no such shards; it answers when none of its workers pushes any more.
  virtual Future<void> leave(std::uint32_t worker, std::uint32_t shard) = 0;

  virtual Future<ShardVersions> versions(std::uint32_t tensor, std::uint32_t shard) = 0;
  virtual Future<WorkerPosition> position(std::uint32_t tensor, std::uint32_t shard, std::uint32_t worker) const = 0;

  // For the slowest worker, its restart included.
  static constexpr Interval kStepTime = 600_s;

  using Remote =
      Methods<deadline<idempotent<&ParameterService::push>, kStepTime>,
              deadline<idempotent<&ParameterService::pull>, kStepTime>,
              deadline<idempotent<&ParameterService::leave>, kStepTime>,
              deadline<idempotent<&ParameterService::versions>, kStepTime>, idempotent<&ParameterService::position>>;
};

struct ParameterServerOptions {
  ShardOptions shard{};     // for every tensor; `width` is replaced by the tensor's
  bool on_device = false;   // the shards' values are in the memory of the node's GPU; the constructor takes it
  bool replicated = false;  // server k + 1 has a replica of the shards of server k
  std::uint64_t checkpoint_every =
      0;  // updates of every shard from one cut of the program to the next; 0: none is taken
  // A cut is also taken after this update, or when all workers have left; 0: neither. In a synchronous training, no cut
  // is taken later.
  std::uint64_t last_step = 0;
};

class ParameterServer final : public ParameterService {
 public:
  // `group` is all servers, this one included, if they are replicated, else empty. Error::failed when an option does
  // not fit, or when there is no GPU for shards on a device.
  ParameterServer(Context& context, std::vector<Tensor> tensors, ParameterServerOptions options,
                  Clients<ParameterServer> group);

  Future<Reply> push(Push push) override;
  Future<Reply> pull(Pull pull) override;
  Future<void> leave(std::uint32_t worker, std::uint32_t shard) override;
  Future<ShardVersions> versions(std::uint32_t tensor, std::uint32_t shard) override;
  Future<WorkerPosition> position(std::uint32_t tensor, std::uint32_t shard, std::uint32_t worker) const override;

  ServerStatistics statistics() const;

  // The same as push and leave, from the primary to its replica.
  void replicate(const Push& push);
  void replicate_leave(std::uint32_t worker);

  void save(Checkpoint& out) const;
  // Error::failed when the saved state is of another size, of another kind of rule, or of a program with another seed.
  void load(const Checkpoint& in);

  using Remote = Methods<deadline<idempotent<&ParameterServer::push>, kStepTime>,
                         deadline<idempotent<&ParameterServer::pull>, kStepTime>,
                         deadline<idempotent<&ParameterServer::leave>, kStepTime>,
                         deadline<idempotent<&ParameterServer::versions>, kStepTime>,
                         idempotent<&ParameterServer::position>, idempotent<&ParameterServer::statistics>,
                         idempotent<&ParameterServer::replicate>, idempotent<&ParameterServer::replicate_leave>>;

 private:
  struct WaitingRead {
    const Shard* shard;
    std::uint64_t clock;
    KeySet keys;
    PushOutcome outcome;
    Promise<Reply> promise;
  };
  // The shards of one owner: one of every tensor.
  using Shards = std::vector<std::unique_ptr<Shard>>;

  Shards make_shards(std::uint32_t owner) const;
  const Shards& shards_of(std::uint32_t owner) const;
  Shard& find(std::uint32_t tensor, std::uint32_t shard) const;
  Future<Reply> push_to_replica(Push push, PushOutcome outcome);
  Future<Reply> answer(const Push& push, PushOutcome outcome);
  Future<Reply> read_when_allowed(const Shard& shard, std::uint64_t clock, KeySet keys, PushOutcome outcome);
  Reply read(const Shard& shard, const KeySet& keys, PushOutcome outcome);
  void answer_reads();
  void cut_when_due();
  bool replicates(std::uint32_t shard) const { return options_.replicated && shard == own_; }
  std::uint32_t replica_of(std::uint32_t shard) const { return (shard + 1) % servers_; }

  Context& context_;
  const std::vector<Tensor> tensors_;
  const ParameterServerOptions options_;
  const Clients<ParameterServer> group_;
  const std::uint32_t own_;
  const std::uint32_t servers_;
  const std::unique_ptr<kernels::Queue> queue_;  // null: the shards are on the host
  Shards shards_{};
  Shards replicas_{};  // those of the server before this one
  KeyLists lists_{};
  std::vector<WaitingRead> reads_{};
  std::uint64_t cut_at_ = 0;  // the update of the newest cut
  ServerStatistics statistics_{};
};

// The tables that calls of this class need are compiled once, in parameter_server.cc.
extern template const NodeType& internal::node_type<ParameterServer>();

}  // namespace lp

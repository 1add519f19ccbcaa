#pragma once
// Collective operations among workers, as in MPI and Horovod: allreduce, reduce-scatter, all-gather, broadcast,
// barrier. All members call the same operations in the same order; a call returns when this member's part is done. All
// ranks get the same bits, except that the bits of a NaN may differ.
//
//   auto members = program.group<lp::CollectiveMember>({.name = "collective", .replicas = n}, lp::context);
//   auto workers = program.group<Worker>({.name = "worker", .replicas = n}, members, lp::index);
//   for (int i = 0; i < n; ++i) program.colocate(members[i], workers[i]);
//
//   lp::Collective all(members, index);  // in a worker
//   all.join();
//   all.allreduce(gradient);                         // a std::vector<float>: sums
//   all.allreduce(losses, lp::Reduction::max);       // a std::vector<double>
//
// When a member dies, the calls of all others fail with Error::disconnected, which names it. Then all join() again. A
// restarted member takes part again; one that will not be restarted is no longer awaited.
//
// Owned by a worker; one thread at a time.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/array.h"
#include "lp/cuda/array.h"
#include "lp/gpu/nccl.h"
#include "lp/rpc/clients.h"
#include "nodes/collective/collective_member.h"

namespace lp {

// The algorithm of an allreduce. Each algorithm adds in the same order in all ranks, whatever the timing.
enum class Allreduce : std::uint8_t {
  nearest,  // direct; with more than 16 ranks: halving below 64 KiB, ring from there on
  // Rank k sums slice k of all ranks' values, in the order of the ranks, and sends the sum to all. Values of less than
  // 16 KiB are one slice. Two ranks send each other everything if it is less than 2 MiB.
  direct,
  // Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms", JPDC 2009: there are 2(N − 1) steps. In each, a rank
  // receives one of N chunks from its left neighbour; in the first half of the steps it adds its own values.
  ring,
  // Recursive halving and doubling (Thakur, Rabenseifner and Gropp, IJHPCA 2005, section 4.5). In each of log2 N steps,
  // two ranks whose numbers differ in one bit exchange one half of their values and add, until each rank has one Nth of
  // the sums. In log2 N more steps they exchange the sums. Ranks above the largest power of two first send their values
  // to another rank.
  halving,
};

// How the values of all ranks are combined.
enum class Reduction : std::uint8_t { sum, max, min };

struct CollectiveOptions {
  Allreduce allreduce = Allreduce::nearest;
  // Tensors are fused into operations of at most this many bytes (Sergeev and Del Balso, "Horovod", 2018, section 7).
  std::size_t fusion_bytes = std::size_t{128} << 20;
  // The library that sums arrays on GPUs: a path, or a name that the dynamic linker finds. Empty: none.
  std::string nccl = gpu::Nccl::kLibrary;
};

struct CollectiveStatistics {
  std::uint64_t operations = 0;  // an allreduce counts one for each fused buffer, or piece of it
  std::uint64_t steps = 0;       // steps in which this rank waited for another
  std::uint64_t bytes_sent = 0;  // values; without those that NCCL moves
  std::uint64_t bytes_received = 0;
};

class GpuGroup;

class Collective {
 public:
  // `members` are the members of all workers; `index` is this worker's.
  Collective(Clients<CollectiveMember> members, std::uint32_t index, CollectiveOptions options = {});
  // Others can still read the parts that this worker has sent. A member that waits for more gets Error::disconnected.
  ~Collective();
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;

  // Waits until all live members have joined. `progress` is how far this worker's state is; the session names the first
  // of the ranks that are farthest. Call it before all else, and after an Error::disconnected.
  const Session& join(std::uint64_t progress = 0);
  // Ends the session early: the calls of all ranks fail with Error::disconnected and this reason, also a call that
  // another thread of this worker is in.
  void leave(const std::string& reason);
  // Declares the common work done, with its result. All members give the same state. A member that joins later gets it.
  void finish(const Array<float>& state) { own().call<&CollectiveMember::finish>(state); }
  // The state of a session that is over.
  const Array<float>& last_state() const { return last_state_; }
  const Session& session() const { return session_; }
  std::uint32_t rank() const { return rank_; }
  std::uint32_t ranks() const { return ranks_; }

  // Sums the tensors over all ranks, in place. All ranks must give the same number of tensors of the same sizes: else
  // Error::failed.
  void allreduce(std::span<const std::span<float>> tensors);
  void allreduce(std::span<float> tensor) { allreduce(std::span<const std::span<float>>(&tensor, 1)); }
  // The same for arrays; other ranks read them without a copy. Some ranks may give arrays, others spans.
  void allreduce(std::span<Array<float>> arrays);
  void allreduce(Array<float>& array) { allreduce(std::span<Array<float>>(&array, 1)); }
  // The same for an array on a GPU. Its values come through pinned memory, and the sum goes back when somebody asks for
  // it there. Some ranks may give one, others arrays of the host. After an error it is as it was.
  void allreduce(cuda::Array<float>& array) {
    Array<float> values = array;
    allreduce(values);
    array = std::move(values);
  }

  // The same for arrays on GPUs in all ranks, whose sums are there, too. NCCL makes them, if it is installed everywhere
  // and no two ranks have the same GPU: then no value goes through the memory of the host, and NCCL chooses the order
  // of the sums. It returns when the stream has done it. Otherwise the values go through pinned memory, as above. All
  // ranks find out together, in the first of these calls of a session. After an error the arrays are as they were.
  void allreduce(std::span<cuda::Array<float>> arrays, cuda::Stream& stream);
  void allreduce(cuda::Array<float>& array, cuda::Stream& stream) {
    allreduce(std::span<cuda::Array<float>>(&array, 1), stream);
  }
  // Why these go through pinned memory in this session; empty: they do not, or nobody has called them yet.
  const std::string& gpu_obstacle() const { return gpu_obstacle_; }

  // The sum, maximum or minimum over all ranks, element by element, in place, for T = float, double, std::int32_t or
  // std::int64_t. Each rank reduces one slice in the order of the ranks, and sends it to all. Sums of integers wrap
  // around, and a maximum or minimum with a NaN is a NaN. For sums of floats the overloads above are faster.
  template <class T>
  void allreduce(std::span<T> values, Reduction reduction);
  template <class T>
  void allreduce(std::vector<T>& values, Reduction reduction) {
    allreduce(std::span<T>(values), reduction);
  }

  // This rank's slice of the sum over all ranks. The slice is slice(rank(), values.size()).
  Array<float> reduce_scatter(std::span<const float> values);
  // The values of all ranks, in the order of the ranks; sizes may differ.
  std::vector<Array<float>> all_gather(Array<float> values);
  // The values of rank `root`; those of other ranks are ignored. A root may be 64 broadcasts ahead of the slowest rank.
  Array<float> broadcast(Array<float> values, std::uint32_t root);
  // Returns when all have called it.
  void barrier();

  struct Slice {
    std::size_t begin = 0;
    std::size_t size = 0;
  };
  // A rank's slice. The sizes of all slices differ by one at most.
  Slice slice(std::uint32_t rank, std::size_t size) const;

  const CollectiveStatistics& statistics() const { return statistics_; }

 private:
  class Tensors;
  struct Piece;
  using Operation = CollectiveOperation;

  void check_joined() const;
  const Client<CollectiveMember>& own() const { return members_[index_]; }
  const Client<CollectiveMember>& at(std::uint32_t rank) const { return members_[session_.members[rank]]; }
  Operation begin(Operation::Kind kind, std::size_t size, std::uint64_t tensors = 0) {
    ++statistics_.operations;
    return {.kind = kind, .number = operation_++, .size = size, .tensors = tensors};
  }

  void allreduce(Tensors& tensors);
  void exchange(Tensors& tensors, std::size_t piece);
  void direct(Tensors& tensors, std::size_t piece);
  Piece give(Array<float> values, std::uint64_t sizes);
  void sum(Piece& piece);
  void collect(const Piece& piece, Tensors& to);
  Slice summed_by(std::uint32_t rank, const Operation& operation) const;
  void ring(const Array<float>& values, Tensors& to);
  void halving(Array<float> values, Tensors& to);

  void form_gpu_group(cuda::Stream& stream);
  std::string form_gpu_group(const gpu::Nccl& nccl, const gpu::Nccl::Id& id, cuda::Stream& stream);
  void agree(const Operation& operation);

  void send(std::uint32_t rank, const Operation& operation, Array<float> values);
  void send_to_others(const Operation& operation, const Array<float>& values);
  Array<float> receive(std::uint32_t rank, const Operation& operation, std::optional<std::size_t> size = {});
  StreamReader<CollectivePart>& from(std::uint32_t rank);
  bool has_sent(std::uint32_t rank) { return from(rank).wait_for(Duration{}); }
  void await(std::uint32_t rank);
  std::string name(std::uint32_t rank) const;
  Array<float> sum_of_all(const Operation& operation, const Array<float>& own);

  struct Found {
    std::vector<std::uint32_t> lost{};
    std::optional<std::uint32_t> finished{};
  };
  Found find_lost() const;
  void check_members() const;

  const Clients<CollectiveMember> members_;
  const std::uint32_t index_;
  const CollectiveOptions options_;
  Session session_{};
  std::uint32_t rank_ = 0;
  std::uint32_t ranks_ = 1;
  std::uint64_t operation_ = 0;
  std::uint64_t broadcasts_ = 0;
  std::vector<std::optional<StreamReader<CollectivePart>>> from_{};  // by rank; opened at the first use
  bool gpus_were_asked_ = false;
  std::string gpu_obstacle_{};
  std::unique_ptr<GpuGroup> gpu_group_{};  // null: sums go through the host
  Array<float> last_state_{};
  std::string failure_ = "it started another session";  // or why the session ended
  CollectiveStatistics statistics_{};
};

// The values of a slice, without a copy.
template <class T>
Array<T> slice_of(const Array<T>& values, const Collective::Slice& slice) {
  return Array<T>(values.buffer().slice(slice.begin * sizeof(T), slice.size * sizeof(T)));
}

}  // namespace lp

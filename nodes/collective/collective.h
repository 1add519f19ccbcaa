#pragma once
// Collective operations among workers, as MPI and Horovod have them: allreduce, reduce-scatter, all-gather, broadcast,
// barrier. All members call the same operations in the same order; a call returns when its part is done. All ranks get
// the same bits, but for which NaN a NaN is.
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
// When a member dies, the calls of all others fail with Error::disconnected, which names it. Then all join() again: who
// is restarted comes back, and who is not is no longer waited for.
//
// Owned by a worker; one thread at a time.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lp/base/array.h"
#include "lp/rpc/clients.h"
#include "nodes/collective/collective_member.h"

namespace lp {

// How an allreduce goes. Each has all sums in one order in all ranks, whatever the timing.
enum class Allreduce : std::uint8_t {
  nearest,  // direct; among more than 16, halving for less than 64 KiB, else ring
  // Rank k sums slice k of everybody's values, in the order of the ranks, and sends it to all. What is smaller than
  // 16 KiB is one slice, and of less than 2 MiB two ranks send each other everything.
  direct,
  // Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms", JPDC 2009: 2(N − 1) steps, in which a rank gets one
  // of N chunks from its left neighbour; its own are added in the first half.
  ring,
  // Recursive halving and doubling (Thakur, Rabenseifner and Gropp, IJHPCA 2005, section 4.5): ranks whose numbers
  // differ in one bit give each other one half of what they have, and add; log2 N times, until each has one sum of N.
  // In as many steps they give each other the sums that they have. Ranks above the largest power of two hand theirs to
  // another first.
  halving,
};

// What becomes of the values of all ranks.
enum class Reduction : std::uint8_t { sum, max, min };

struct CollectiveOptions {
  Allreduce allreduce = Allreduce::nearest;
  // Tensors are fused up to so many bytes: an operation each (Sergeev and Del Balso, "Horovod", 2018, section 7).
  std::size_t fusion_bytes = std::size_t{128} << 20;
};

struct CollectiveStatistics {
  std::uint64_t operations = 0;  // of an allreduce one for each fused buffer, or piece of it
  std::uint64_t steps = 0;       // in which it waited for another
  std::uint64_t bytes_sent = 0;  // values
  std::uint64_t bytes_received = 0;
};

class Collective {
 public:
  // `members` are those of all workers, `index` says which is this worker's.
  Collective(Clients<CollectiveMember> members, std::uint32_t index, CollectiveOptions options = {});
  // Others can still read what this worker has sent; who waits for more hears that it has ended.
  ~Collective();
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;

  // Waits until all who live have joined. `progress` says how far this worker's state is; the session names the rank
  // that is farthest, the first of these. To be called before all else, and after an Error::disconnected.
  const Session& join(std::uint64_t progress = 0);
  // Ends the session before its time: the calls of all ranks fail with Error::disconnected and this reason, also the
  // one that another thread of this worker is in.
  void leave(const std::string& reason);
  // What they do together is done, and this is what came out: all give the same. Who joins later gets it.
  void finish(const Array<float>& state) { own().call<&CollectiveMember::finish>(state); }
  // Of a session that is over.
  const Array<float>& last_state() const { return last_state_; }
  const Session& session() const { return session_; }
  std::uint32_t rank() const { return rank_; }
  std::uint32_t ranks() const { return ranks_; }

  // Sums the tensors over all ranks, in place. All give as many tensors of the same sizes: else Error::failed.
  void allreduce(std::span<const std::span<float>> tensors);
  void allreduce(std::span<float> tensor) { allreduce(std::span<const std::span<float>>(&tensor, 1)); }
  // The same for arrays, which others read where they lie. Some ranks may give arrays, others spans.
  void allreduce(std::span<Array<float>> arrays);
  void allreduce(Array<float>& array) { allreduce(std::span<Array<float>>(&array, 1)); }

  // The sum, maximum or minimum over all ranks, element by element, in place, for T = float, double, std::int32_t or
  // std::int64_t. Each rank reduces one slice in the order of the ranks, and sends it to all; sums of integers wrap
  // around, and a maximum with a NaN in it is a NaN. For sums of floats the above is faster.
  template <class T>
  void allreduce(std::span<T> values, Reduction reduction);
  template <class T>
  void allreduce(std::vector<T>& values, Reduction reduction) {
    allreduce(std::span<T>(values), reduction);
  }

  // Of the sum over all ranks, this rank's slice: as slice(rank(), values.size()) says.
  Array<float> reduce_scatter(std::span<const float> values);
  // What all ranks give, in their order; sizes may differ.
  std::vector<Array<float>> all_gather(Array<float> values);
  // What rank `root` gives; what others give does not count. A root may be 64 of them ahead of the slowest rank.
  Array<float> broadcast(Array<float> values, std::uint32_t root);
  // Returns when all have called it.
  void barrier();

  struct Slice {
    std::size_t begin = 0;
    std::size_t size = 0;
  };
  // The slices of all ranks, whose sizes differ by one at most.
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

  void send(std::uint32_t rank, const Operation& operation, Array<float> values);
  void send_to_others(const Operation& operation, const Array<float>& values);
  Array<float> receive(std::uint32_t rank, const Operation& operation, std::optional<std::size_t> size = {});
  void await(std::uint32_t rank);
  std::string name(std::uint32_t rank) const;
  Array<float> sum_of_all(const Operation& operation, const Array<float>& own);

  struct Found {
    std::vector<std::uint32_t> lost{};
    std::optional<std::uint32_t> finished{};
  };
  Found look_around() const;
  void check_members() const;

  const Clients<CollectiveMember> members_;
  const std::uint32_t index_;
  const CollectiveOptions options_;
  Session session_{};
  std::uint32_t rank_ = 0;
  std::uint32_t ranks_ = 1;
  std::uint64_t operation_ = 0;
  std::uint64_t broadcasts_ = 0;
  std::vector<std::optional<StreamReader<CollectivePart>>> from_{};  // by rank, from the first time on
  Array<float> last_state_{};
  std::string failure_ = "it began another session";  // or why the session ended
  CollectiveStatistics statistics_{};
};

}  // namespace lp

#pragma once
// NVIDIA's library for collective operations among GPUs (NCCL). It is loaded where it is installed, and nothing is
// linked with it. Which GPUs work together, and which of their processes live, the caller knows: NCCL does not.

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>

namespace lp::gpu {

struct NcclFunctions;
struct NcclCommunicator;

// The library. Any thread.
class Nccl {
 public:
  static constexpr const char* kLibrary = "libnccl.so.2";
  static constexpr int kOldest = 21400;  // the first version whose ranks can be aborted before all of them are there

  // Throws Error(failed), with the reason, when there is no such library, or when it is too old.
  explicit Nccl(const std::string& library = kLibrary);

  int version() const noexcept { return version_; }
  // "2.27.3" for 22703.
  static std::string version_text(int version);

  // The name of a communicator. One rank makes it, and all its ranks are made with it.
  using Id = std::array<char, 128>;
  Id make_id() const;

 private:
  friend class NcclRank;

  std::shared_ptr<const NcclFunctions> functions_;  // shared with the ranks
  int version_ = 0;
};

// The part that one GPU has in a communicator. No function waits for other ranks. Errors of NCCL are
// Error(disconnected) when they come from the way to another rank, and Error(failed) otherwise. Thread-safe.
class NcclRank {
 public:
  // Begins to form the communicator, for the GPU that is the current one of this thread.
  NcclRank(const Nccl& nccl, const Nccl::Id& id, int rank, int ranks);
  // Aborts it, unless finish() has come to its end.
  ~NcclRank();
  NcclRank(const NcclRank&) = delete;
  NcclRank& operator=(const NcclRank&) = delete;

  // Whether what was called last is still under way. Nothing but this and abort() may be called until it is not. Throws
  // the error of what has failed.
  bool busy() const;
  // Puts the sum over all ranks into a stream (cudaStream_t).
  void sum(const float* from, float* to, std::size_t size, void* stream);
  // Begins to end the communicator, after the work of all ranks.
  void finish();
  // Ends all work of this rank in its streams, without a result.
  void abort() noexcept;

 private:
  void check(int code, const char* function) const;

  const std::shared_ptr<const NcclFunctions> functions_;
  mutable std::mutex mutex_;
  NcclCommunicator* communicator_ = nullptr;  // null: it was aborted
  bool finishes_ = false;
};

}  // namespace lp::gpu

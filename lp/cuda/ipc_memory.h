#pragma once
// Memory of GPUs that processes of this host open for one another. Memory that is open here stays so as long as
// somebody reads it, and as long as there is a link to its owner: so each piece is opened once. One object for each
// process; thread-safe.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "lp/base/array.h"
#include "lp/cuda/device.h"

namespace lp::cuda {

// The name of values on a GPU, as it is sent. The frame that has it is kept by its owner until its receiver gives it
// back, or is gone, and so are the values.
struct ValuesName {
  // The bytes of its frame, of which most are never touched. They are what its lease weighs: readers tell an owner that
  // sends nothing of a few that come back, so that it does not keep much memory of the GPU for nobody.
  static constexpr std::size_t kFrame = std::size_t{256} << 10;

  std::uint64_t place = 0;
  std::uint64_t owner = 0;  // SharedHeap::owner
  MemoryHandle memory{};
};

class Neighbours {
 public:
  static const std::shared_ptr<Neighbours>& here();

  // Tells other processes that this one opens memory of the GPU, while somebody has it.
  void add(const std::shared_ptr<Device>& device);
  // Throws Error(failed) when this process has that GPU no more.
  std::shared_ptr<Device> device(std::uint64_t place);

  // The frame that names memory of the GPU, and keeps `values`; empty when it cannot be shared.
  static Buffer name(Device& device, const void* memory, const std::shared_ptr<Buffer::Elsewhere>& values);
  // Throws Error(failed) for bytes that are no name.
  static ValuesName read(const Buffer& frame);
  // The address of the values. They are open as long as somebody has the pointer. Throws Error(failed). When the system
  // does not open the memory, as in some containers, other processes send the bytes from then on.
  std::shared_ptr<const std::byte> open(const ValuesName& name);

 private:
  void forget(std::uint64_t owner);

  using Key = std::pair<std::uint64_t, std::array<std::byte, 64>>;  // place and base
  struct Opened {
    std::uint64_t owner = 0;
    std::shared_ptr<const std::byte> memory{};
  };
  std::atomic<bool> watches_ = false;  // the ends of links
  std::mutex mutex_;
  std::map<std::uint64_t, std::weak_ptr<Device>> devices_;  // by place
  std::map<Key, Opened> opened_;
  std::set<std::uint64_t> refused_;  // places whose memory the system does not open
};

}  // namespace lp::cuda

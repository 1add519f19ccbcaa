#pragma once
// A link through memory that two processes of a host share: a ShmRing in each direction for messages, and the
// SharedHeaps of both for big arrays, which are sent as their locations. The sender keeps such an array until the
// receiver has given it back. Arrays that a dead receiver still had are given back with its link. Owned by its
// Connection; thread-safe.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "lp/base/shared_heap.h"
#include "lp/base/shared_memory.h"
#include "lp/rpc/core/connection.h"
#include "lp/rpc/link/link.h"
#include "lp/rpc/link/receive_role.h"
#include "lp/rpc/shm/doorbell.h"
#include "lp/rpc/shm/release_ring.h"
#include "lp/rpc/shm/ring.h"
#include "lp/rpc/shm/shm_reader.h"
#include "lp/rpc/shm/shm_writer.h"
#include "lp/rpc/shm/spin.h"

namespace lp::rpc {

// The memory of a process that its neighbour can see.
struct Neighbour {
  SharedMemory bell;
  SharedMemory heap;
};

// The content of the memory of one link, which the side that dials makes.
struct RingPair {
  static constexpr std::size_t kRing = 512 << 10;
  ShmRing to_dialed;
  ShmRing to_dialer;
  ReleaseRing back_to_dialed;  // leases of the dialed side's heap that the dialer gives back
  ReleaseRing back_to_dialer;
  alignas(64) std::byte ring_to_dialed[kRing];
  std::byte ring_to_dialer[kRing];
};

class ShmLink final : public Link, private SharedHeap::Lender {
 public:
  enum class Side { dialer, dialed };
  // This link is lane `here` at our own `bell`, and lane `there` at the neighbour's.
  ShmLink(Pool& pool, Side side, SharedMemory lanes, std::shared_ptr<const Neighbour> neighbour,
          std::shared_ptr<const SharedMemory> bell, std::uint32_t here, std::uint32_t there);
  ~ShmLink() override;

  void send(Message message) override;
  Queued queued() const override;
  bool full() const noexcept override { return full_.load(std::memory_order_relaxed); }
  bool opens(std::uint64_t place) const noexcept override { return SharedHeap::announces(neighbour_->heap, place); }
  bool shares_memory() const noexcept override { return true; }
  Word* begin_reading() noexcept override;
  bool read() override;
  void end_reading() noexcept override;
  void expect() noexcept override;
  void expect_no_more() noexcept override { expected_.fetch_sub(1); }

  // Sets the connection of this link; called before the first receive.
  void attach(Connection& connection) { connection_ = &connection; }
  // Handles the messages that have come, up to `most`, and runs handlers. Returns the number of messages. A thread that
  // finds another one receiving leaves it to that one. Closes the connection when the neighbour sends malformed
  // messages.
  std::size_t receive(Handlers handlers, std::size_t most = kAll);
  static constexpr std::size_t kAll = ~std::size_t{0};
  // Closes memory of the neighbour that is open for the next use only: no message will come any more.
  void forget_neighbour() noexcept;
  // Wakes the readers: the neighbour has died, perhaps about to wake one.
  void wake() noexcept { unpark(incoming_.reader, 1 << 16); }

 private:
  class Returns;
  class Batch;

  std::size_t receive_some(Handlers handlers, std::size_t most, bool& more);
  void maintain();
  void take_back() noexcept;
  void take_back(std::vector<Buffer>& returned) noexcept override;
  void take_back_locked(std::vector<Buffer>& returned) noexcept;
  bool owe() const;
  void pay();
  void ring_for_all() noexcept;
  void ring_later() noexcept;
  void ring_again() noexcept;
  friend class Receiving<ShmLink>;
  void role_given_up() noexcept {
    ring_again();
    ring_here();
  }
  void ring_there() const { reinterpret_cast<Doorbell*>(neighbour_->bell.data())->ring(there_); }
  void ring_here() const { reinterpret_cast<Doorbell*>(bell_->data())->ring(here_); }

  Pool& pool_;
  const SharedMemory lanes_;
  const std::shared_ptr<const Neighbour> neighbour_;
  const std::shared_ptr<const SharedMemory> bell_;
  const std::uint32_t here_;
  const std::uint32_t there_;
  ShmRing& incoming_;
  const std::shared_ptr<Returns> returns_;  // shared with the arrays that came
  Connection* connection_ = nullptr;

  std::atomic<int> expected_;  // threads that want messages at once; always one more on the side that was dialed

  mutable std::mutex sending_;
  ShmWriter writer_;
  ReleaseReader taker_;
  std::atomic<bool> malformed_ = false;  // taker_ found malformed leases
  std::atomic<bool> queued_ = false;     // writer_ waits for room
  std::atomic<bool> full_ = false;       // queued bytes exceed kFull
  std::atomic<bool> owes_ = false;       // it has sent replies and not woken the reader yet

  ReceiveRole role_;  // role of handling messages
  ShmReader reader_;
  bool broken_ = false;

  Spin spin_;  // used by the thread that reads
};

}  // namespace lp::rpc

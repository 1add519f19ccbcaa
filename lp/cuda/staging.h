#pragma once
// Copies between a GPU and ordinary memory of the host, through pieces of pinned memory. A large copy has several lanes
// with a thread and two pieces each: while the GPU copies one piece, the thread of the lane copies the other. One
// thread of a processor copies more slowly than a GPU does. A Stage keeps the pinned memory of its lanes, 32 MiB at
// most. It belongs to the queue that it copies for; one caller at a time.

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "lp/base/scheduler.h"
#include "lp/cuda/device.h"

namespace lp::cuda {

class Stage {
 public:
  static constexpr std::size_t kPiece = std::size_t{2} << 20;  // bytes: both pieces of a lane fit into a core's cache
  static constexpr std::size_t kMostLanes = 8;

  explicit Stage(std::shared_ptr<Device> device) : device_(std::move(device)) {}
  // Its pieces are free when the GPU has read them.
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  // Returns when `from` has been read; the GPU has its copy when the queue comes to its next mark.
  void to_device(Queue& queue, void* to, const std::byte* from, std::size_t size);
  // Returns when all bytes are there.
  void to_host(Queue& queue, std::byte* to, const void* from, std::size_t size);

 private:
  struct Piece {
    std::unique_ptr<Pinned> memory{};
    std::shared_ptr<const Mark> used{};  // the GPU needs it no more; null: it never has
  };
  struct Lane {
    std::array<Piece, 2> pieces{};
  };
  // Hands out the pieces of one copy to the lanes.
  struct Cut {
    std::size_t size = 0;
    std::atomic<std::size_t> next{0};

    std::optional<std::size_t> take() noexcept;  // where the next piece begins
    std::size_t bytes_at(std::size_t begin) const noexcept;
  };

  // Returns the piece when the GPU does not need it.
  std::byte* free_memory(Piece& piece);
  // Runs `copy` in the lanes that a copy of this size needs. Throws the first lane's error after all have ended.
  void run(std::size_t size, const std::function<void(Lane&)>& copy);

  std::shared_ptr<Device> device_;
  std::vector<Lane> lanes_ = std::vector<Lane>(kMostLanes);
  std::optional<Pool> threads_{};  // those of the other lanes
};

}  // namespace lp::cuda

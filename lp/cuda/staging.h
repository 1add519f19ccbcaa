#pragma once
// Copies between a GPU and ordinary memory of the host, through two pieces of pinned memory: while the GPU copies one,
// the processor copies the other. A Stage belongs to a Stream; one thread at a time.

#include <array>
#include <cstddef>
#include <memory>

#include "lp/cuda/device.h"

namespace lp::cuda {

class Stage {
 public:
  static constexpr std::size_t kPiece = std::size_t{4} << 20;  // bytes

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
  Piece& piece(std::size_t number);  // which the GPU does not need now

  std::shared_ptr<Device> device_;
  std::array<Piece, 2> pieces_{};
};

}  // namespace lp::cuda

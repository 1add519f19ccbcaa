#pragma once
// Bytes on the disk instead of in memory. They are mapped, so readers read them in place, and the system keeps in
// memory as much of them as it has room for. The files have no name: they are gone with the process, however it ends.
//
// Owned by a ChunkStore, under its lock. The Buffers may outlive it, and belong to any thread.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "lp/base/array.h"

namespace lp::replay {

class Spill {
 public:
  // Room that is taken on the disk at a time; less when the disk has less.
  static constexpr std::size_t kSegmentBytes = std::size_t{64} << 20;

  // Creates the directory if it does not exist. Error::failed when it cannot.
  explicit Spill(std::filesystem::path directory);
  ~Spill();

  // Writes the bytes. The room on the disk is free again when the last Buffer of them is gone. Error::overloaded when
  // the disk has no room.
  Buffer put(std::span<const std::byte> bytes);

 private:
  class Segment;

  const std::filesystem::path directory_;
  std::shared_ptr<Segment> segment_{};  // the newest; shared with the Buffers in it
};

}  // namespace lp::replay

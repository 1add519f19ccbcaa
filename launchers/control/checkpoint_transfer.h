#pragma once
// Sends a node's saved file in pieces between hosts that share no file system. Functions without state; each file
// belongs to one thread.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "lp/base/function.h"

namespace lp::control {
struct Message;
struct Piece;
}  // namespace lp::control

namespace lp::launch {

// Names the file that the pieces belong to.
struct CutPart {
  std::size_t process = 0;
  std::uint32_t incarnation = 0;
  std::uint32_t node = 0;
  std::string name{};  // the node's name
  std::uint64_t step = 0;
};

// The directory, below the agent's own, that receives the parts for a process's next incarnation to load.
std::filesystem::path restore_directory(const std::filesystem::path& agents, std::size_t process,
                                        std::uint32_t incarnation);

// Returns the messages of the file one by one, and then an empty one; for MessageStream::send_all. A file that is
// removed meanwhile is still sent whole. Throws Error when it cannot be read.
Function<std::vector<std::uint8_t>()> pieces_of(const std::filesystem::path& file, const CutPart& part);

// Appends the piece to `file`. After the last piece the file has its final name and is durable. Throws Error when it
// cannot be written or when pieces are missing.
void put_piece(const std::filesystem::path& file, const control::Piece& piece);

}  // namespace lp::launch

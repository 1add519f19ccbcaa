#pragma once
// What a node has saved, on its way between hosts that share no file system: its file in pieces. Functions without
// state; each file belongs to one thread.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "lp/base/function.h"

namespace lp::control {
struct Message;
struct Piece;
}  // namespace lp::control

namespace lp::internal {

// Whose file it is.
struct CutPart {
  std::size_t unit = 0;
  std::uint32_t incarnation = 0;
  std::uint32_t node = 0;
  std::string name{};  // of the node
  std::uint64_t step = 0;
};

// Where the parts are put that a unit's new process loads, below the agent's own directory.
std::filesystem::path restore_directory(const std::filesystem::path& agents, std::size_t unit,
                                        std::uint32_t incarnation);

// Gives the messages of the file, one after the other, and then an empty one; for ControlSocket::send_all. A file that
// is removed meanwhile is sent all the same. Throws Error when it cannot be read.
Function<std::vector<std::uint8_t>()> pieces_of(const std::filesystem::path& file, const CutPart& part);

// Adds the piece to `file`, which is there under its name, and durable, after the last one. Throws Error when it cannot
// be written, or when pieces are missing.
void put_piece(const std::filesystem::path& file, const control::Piece& piece);

}  // namespace lp::internal

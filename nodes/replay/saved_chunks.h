#pragma once
// Chunks in a checkpoint: their keys, steps and forms as arrays, and their bytes as they are in memory, without a copy.
// Functions.

#include <span>
#include <string>
#include <vector>

#include "lp/checkpoint/checkpoint.h"
#include "nodes/replay/chunk.h"

namespace lp::replay {

// For numbers of a checkpoint that do not fit one another; `what` names them. `owner` is the part of the server.
[[noreturn]] void fail_damaged(const std::string& owner, const std::string& what);

void save_chunks(Checkpoint& out, std::span<const ChunkRef> chunks);
// Error::failed when they are damaged, Error::overloaded as ChunkStore::add.
std::vector<ChunkRef> load_chunks(const Checkpoint& in, ChunkStore& store);

}  // namespace lp::replay

#pragma once
// Where a table is. Clients of a server ask once, since all incarnations of a server have the same tables. Functions
// and values.

#include <cstdint>
#include <string>

#include "lp/rpc/client.h"
#include "nodes/replay/server.h"

namespace lp::replay {

struct TableLocation {
  std::uint32_t shard = 0;   // the server's number in its group
  std::uint32_t number = 0;  // the table's position at the server
  Columns columns{};
};

// Error::failed when the server has no such table, naming those that it has.
TableLocation find_table(const Client<Server>& server, const std::string& table);

// The number of the server that gave a key.
std::uint32_t shard_of(std::uint64_t key);

}  // namespace lp::replay

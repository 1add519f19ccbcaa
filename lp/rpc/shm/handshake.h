#pragma once
// The handshake of two processes of a host: one message each way over a socket of the Unix domain, with memory in it.
// Functions; any thread. They throw Error(failed), and Error(disconnected) when the other side has ended.

#include <cstdint>
#include <optional>
#include <string>

#include "lp/base/descriptor.h"
#include "lp/rpc/shm/shm_link.h"

namespace lp::rpc {

// Returns a socket that listens under `name` within this network namespace. Accepting from it does not block.
Descriptor listen_locally(const std::string& name);
// Returns a socket to the process that listens there. No call of this file waits on its sockets: use a Poller.
Descriptor connect_locally(const std::string& name);
// Returns the next connection of a process that runs as the same user; nothing when nobody is waiting.
std::optional<Descriptor> accept_neighbour(const Descriptor& listening);

// Sends the memory of a link (by the side that dials), our bell and our heap; `lane` is the link's place at our bell.
void send_memory(int socket, std::uint32_t lane, const SharedMemory* lanes, const SharedMemory& bell,
                 const SharedMemory& heap);

struct Introduction {
  std::uint32_t lane = 0;  // lane at the neighbour's bell
  SharedMemory lanes{};    // made by the side that dials
  Neighbour neighbour{};
};
// Receives the memory that the other side sent; the side that was dialed gets lanes too. Throws when the memory is not
// there, or is not as it should be.
Introduction receive_memory(const Descriptor& socket, bool dialed);

}  // namespace lp::rpc

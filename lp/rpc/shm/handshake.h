#pragma once
// How two processes of a host meet: one message each way over a socket of the Unix domain, with memory in it.
// Functions; any thread. They throw Error(failed), and Error(disconnected) when the other side has ended.

#include <cstdint>
#include <optional>
#include <string>

#include "lp/base/descriptor.h"
#include "lp/rpc/shm/link.h"

namespace lp::internal {

// A socket that listens under `name` within this network namespace; accepting from it does not block.
Descriptor listen_locally(const std::string& name);
// A socket to whoever listens there. Nobody waits on the sockets of this file: use a Poller.
Descriptor connect_locally(const std::string& name);
// The next one who has connected and runs as the same user; none: nobody is waiting.
std::optional<Descriptor> accept_neighbour(const Descriptor& listening);

// Sends the memory of a link (by the side that dials), our bell and our heap; `lane` is the link's place at our bell.
void send_memory(int socket, std::uint32_t lane, const SharedMemory* lanes, const SharedMemory& bell,
                 const SharedMemory& heap);

struct Introduction {
  std::uint32_t lane = 0;  // at the neighbour's bell
  SharedMemory lanes{};    // from the side that dials
  Neighbour neighbour{};
};
// Receives what the other side sent; the side that was dialed gets lanes too. Throws when it is not there, or not what
// it should be.
Introduction receive_memory(const Descriptor& socket, bool dialed);

}  // namespace lp::internal

#pragma once
// A Session whose processes are started from a binary that calls become_peer_if_asked. They end with this process,
// however that ends.

#include <optional>
#include <span>
#include <string>

#include "tests/bench/rpc/session.h"

namespace lp::bench {

// Starts the processes of `peer`; they are connected when this returns. Throws Error.
std::unique_ptr<Session> start_processes(const std::string& binary, const std::string& peer, Size size);

// In such a process: serves, or calls, until the Session's end, and returns the exit code. Nothing in others.
std::optional<int> become_peer_if_asked(int argc, char** argv, std::span<const Peer> peers);

}  // namespace lp::bench

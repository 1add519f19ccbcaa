#pragma once
// The peers that need only the system and ZeroMQ: the foundations of lp, without lp.

#include "tests/bench/rpc/peer.h"

namespace lp::bench {

Peer futex_peer();   // two words in shared memory; one caller
Peer unix_peer();    // a Unix stream socket
Peer tcp_peer();     // a TCP socket
Peer zeromq_peer();  // ROUTER and DEALER over TCP

}  // namespace lp::bench

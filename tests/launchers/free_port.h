#pragma once
// Ports of 127.0.0.1 that nobody has now, for what must be told one before it starts.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstddef>
#include <vector>

#include "lp/base/descriptor.h"

namespace lp::test {

// All different.
inline std::vector<int> free_ports(std::size_t count) {
  std::vector<int> ports;
  std::vector<Descriptor> held;  // until all are chosen
  while (ports.size() < count) {
    held.emplace_back(socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(held.back().number(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(getsockname(held.back().number(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    ports.push_back(ntohs(address.sin_port));
  }
  return ports;
}

inline int free_port() { return free_ports(1).front(); }

}  // namespace lp::test

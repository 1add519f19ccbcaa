#pragma once
// A port of 127.0.0.1 for a program that needs its port before it starts. Owned by the test; any thread.
//
// It stays bound, and nothing listens there: the kernel gives it to nobody else meanwhile, neither for a listener nor
// for a connection. A listener with SO_REUSEADDR, as ZeroMQ and Slurm use it, can have it (ip(7), tcp(7)).

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "lp/base/descriptor.h"

namespace lp::test {

class ReservedPort {
 public:
  ReservedPort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int on = 1;
    EXPECT_EQ(setsockopt(socket_.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(socket_.number(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(getsockname(socket_.number(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    number_ = ntohs(address.sin_port);
  }

  int number() const { return number_; }

 private:
  Descriptor socket_;
  int number_ = 0;
};

}  // namespace lp::test

#pragma once
// A client of HTTP for tests: it asks a server of this host that runs in another thread or process. Any thread.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cstdint>
#include <string>

#include "lp/base/descriptor.h"

namespace lp::test {

// The answer to GET, with its head, at a URL that begins with http://127.0.0.1:PORT. Empty when nothing listens there.
inline std::string http_get(const std::string& url) {
  const std::size_t port = std::string("http://127.0.0.1:").size();
  const std::size_t path = url.find('/', port);
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval limit{.tv_sec = 30, .tv_usec = 0};
  EXPECT_EQ(setsockopt(socket.number(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(url.substr(port, path - port))));
  if (connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return {};
  const std::string request = "GET " + url.substr(path) + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
  EXPECT_EQ(send(socket.number(), request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  std::string answer;
  std::array<char, 65536> bytes;
  ssize_t got = 0;
  while ((got = recv(socket.number(), bytes.data(), bytes.size(), 0)) > 0) {
    answer.append(bytes.data(), static_cast<std::size_t>(got));
  }
  return answer;
}

}  // namespace lp::test

#include "launchers/http/http_address.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "lp/base/error.h"
#include "lp/base/text.h"

namespace lp::launch {
namespace {

constexpr int kNotAcceptedYet = 64;  // connections
constexpr int kMostPort = 65535;

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

// Null when the text is no address.
AddressList find_address(const HttpAddress& address) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  addrinfo* found = nullptr;
  if (getaddrinfo(address.address.c_str(), std::to_string(address.port).c_str(), &hints, &found) != 0) found = nullptr;
  return {found, &freeaddrinfo};
}

[[noreturn]] void cannot_listen(const HttpAddress& address) {
  const std::string where = "cannot listen at " + address.address + ", port " + std::to_string(address.port) + ": ";
  if (errno == EADDRINUSE) {
    throw Error(ErrorKind::failed, where + "another program has the port; choose another one, or 0 for a free one");
  }
  if (errno == EADDRNOTAVAIL) throw Error(ErrorKind::failed, where + "this host has no such address");
  throw Error(ErrorKind::failed, where + std::strerror(errno));
}

int port_of(int socket) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return 0;
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                           : reinterpret_cast<const sockaddr_in&>(bound).sin_port);
}

}  // namespace

HttpAddress read_http_address(std::string_view text) {
  HttpAddress address;
  std::string_view port = text;
  if (const std::size_t colon = text.rfind(':'); colon != std::string_view::npos) {
    std::string_view host = text.substr(0, colon);
    port.remove_prefix(colon + 1);
    const bool brackets = host.starts_with('[') && host.ends_with(']');
    if (brackets) host = host.substr(1, host.size() - 2);
    if (!brackets && host.find(':') != std::string_view::npos) host = {};  // ::1:9100 could mean two things
    address.address = host;
  }
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  const bool is_port = error == std::errc() && end == port.data() + port.size() && address.port >= 0;
  if (!is_port || address.port > kMostPort || address.address.empty() || find_address(address) == nullptr) {
    throw Error(ErrorKind::failed, quote(text) +
                                       " is no place to listen: write PORT, ADDRESS:PORT or "
                                       "[ADDRESS]:PORT, such as 9100 or 0.0.0.0:9100; port 0 is a free one");
  }
  return address;
}

std::string url_of(const HttpAddress& address) {
  const bool is_v6 = address.address.find(':') != std::string::npos;
  return "http://" + (is_v6 ? "[" + address.address + "]" : address.address) + ":" + std::to_string(address.port);
}

Descriptor listen_at(HttpAddress& address) {
  const AddressList found = find_address(address);
  if (found == nullptr) throw Error(ErrorKind::failed, quote(address.address) + " is no address of IPv4 or IPv6");
  Descriptor socket(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) cannot_listen(address);
  const int on = 1;  // the port can be had while connections of an earlier server fade away
  setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(socket.number(), found->ai_addr, found->ai_addrlen) != 0 || listen(socket.number(), kNotAcceptedYet) != 0) {
    cannot_listen(address);
  }
  address.port = port_of(socket.number());
  return socket;
}

}  // namespace lp::launch

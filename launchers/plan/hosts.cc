#include "launchers/plan/hosts.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>
#include <string_view>
#include <utility>

#include "lp/base/descriptor.h"
#include "lp/base/error.h"
#include "lp/base/memory_limit.h"
#include "lp/base/text.h"
#include "lp/gpu/gpus_here.h"

namespace lp {
namespace {

[[noreturn]] void refuse(const std::string& entry, const std::string& why) {
  throw Error(ErrorKind::failed,
              "hosts: " + quote(entry) + ": " + why + "; a host is NAME, NAME:SLOTS or NAME:SLOTS:ADDRESS");
}

// Checks a name, because names go into command lines.
bool is_name(const std::string& text) {
  constexpr std::string_view kOthers = ".-_@";
  return !text.empty() && text.front() != '-' && std::all_of(text.begin(), text.end(), [&](unsigned char one) {
    return std::isalnum(one) != 0 || kOthers.find(static_cast<char>(one)) != std::string_view::npos;
  });
}

HostSpec read_host(const std::string& entry) {
  HostSpec host;
  const std::size_t first = entry.find(':');
  host.name = entry.substr(0, first);
  if (!is_name(host.name)) refuse(entry, "this is not a host name");
  if (first == std::string::npos) return host;
  const std::size_t second = entry.find(':', first + 1);
  const std::string slots = entry.substr(first + 1, second == std::string::npos ? second : second - first - 1);
  const auto [rest, error] = std::from_chars(slots.data(), slots.data() + slots.size(), host.slots);
  if (error != std::errc{} || rest != slots.data() + slots.size() || host.slots < 1) {
    refuse(entry, "the number of slots must be 1 or more");
  }
  if (second != std::string::npos) host.address = entry.substr(second + 1);
  return host;
}

}  // namespace

std::vector<HostSpec> read_hosts(const std::vector<std::string>& list) {
  std::vector<HostSpec> hosts;
  for (const std::string& entry : list) {
    HostSpec host = read_host(entry);
    const bool twice =
        std::any_of(hosts.begin(), hosts.end(), [&](const HostSpec& one) { return one.name == host.name; });
    if (twice) refuse(entry, "this host is given twice");
    hosts.push_back(std::move(host));
  }
  return hosts;
}

namespace launch {
namespace {

std::vector<unsigned> own_cores() {
  std::vector<unsigned> cores;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (unsigned core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

std::string text_of(const sockaddr* address, socklen_t size) {
  std::array<char, NI_MAXHOST> text{};
  const int error = getnameinfo(address, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
  return error == 0 ? text.data() : std::string();
}

}  // namespace

std::string address_of(const std::string& name) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(name.c_str(), nullptr, &hints, &found) != 0) return {};
  std::string text = text_of(found->ai_addr, found->ai_addrlen);
  freeaddrinfo(found);
  return text;
}

// Connecting a datagram socket sends nothing, but the kernel chooses the route.
std::string address_towards(const std::string& address) {
  constexpr std::uint16_t kAnyPort = 9;
  sockaddr_in there{};
  there.sin_family = AF_INET;
  there.sin_port = htons(kAnyPort);
  if (inet_pton(AF_INET, address.c_str(), &there.sin_addr) != 1) return {};
  const Descriptor route(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in here{};
  socklen_t size = sizeof here;
  if (connect(route.number(), reinterpret_cast<const sockaddr*>(&there), sizeof there) != 0 ||
      getsockname(route.number(), reinterpret_cast<sockaddr*>(&here), &size) != 0) {
    return {};
  }
  return text_of(reinterpret_cast<const sockaddr*>(&here), size);
}

HostCapacity capacity_here() {
  return {.spec = {.name = "localhost", .slots = std::numeric_limits<int>::max()},
          .cores = own_cores(),
          .gpus = gpu::gpus_here(),
          .memory = internal::memory_here()};
}

}  // namespace launch
}  // namespace lp

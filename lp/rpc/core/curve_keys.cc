#include "lp/rpc/core/curve_keys.h"

#include <arpa/inet.h>

#include <array>

#include <zmq.hpp>

#include "lp/base/error.h"

namespace lp {
namespace {

constexpr std::size_t kBytes = 32;
constexpr std::size_t kText = 40;
using Text = std::array<char, kText + 1>;  // ends with a zero byte

}  // namespace

CurveKeys make_curve_keys() {
  Text open{};
  Text secret{};
  if (zmq_curve_keypair(open.data(), secret.data()) != 0) {
    throw Error(ErrorKind::failed, std::string("cannot make keys for traffic between hosts: ") +
                                       zmq_strerror(zmq_errno()) + "; ZeroMQ must be built with CURVE");
  }
  return {.public_key = open.data(), .secret_key = secret.data()};
}

std::string curve_text(const std::string& bytes) {
  Text text{};
  if (bytes.size() != kBytes) return "";
  zmq_z85_encode(text.data(), reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  return text.data();
}

bool is_loopback(const std::string& address) {
  in_addr v4{};
  in6_addr v6{};
  const bool is_v4 = inet_pton(AF_INET, address.c_str(), &v4) == 1;
  if (!is_v4 && inet_pton(AF_INET6, address.c_str(), &v6) != 1) {
    throw Error(ErrorKind::failed,
                "cannot listen on '" + address +
                    "': it is not a numeric address such as 10.0.0.5 (`ip address` shows the addresses of this host)");
  }
  if (is_v4 ? v4.s_addr == INADDR_ANY : IN6_IS_ADDR_UNSPECIFIED(&v6) != 0) {
    throw Error(ErrorKind::failed, "cannot listen on '" + address +
                                       "': other hosts could not connect to it; give one address of this host");
  }
  return is_v4 ? ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET : IN6_IS_ADDR_LOOPBACK(&v6) != 0;
}

}  // namespace lp

#pragma once
// The address at which a server listens. A value and functions; any thread.

#include <string>
#include <string_view>

#include "lp/base/descriptor.h"

namespace lp::launch {

struct HttpAddress {
  std::string address = "127.0.0.1";  // an address of IPv4 or IPv6
  int port = 0;                       // 0: a free one
};

// Reads "9100", "0.0.0.0:9100" or "[::1]:9100". Throws Error for another text.
HttpAddress read_http_address(std::string_view text);
// "http://127.0.0.1:9100"
std::string url_of(const HttpAddress& address);

// A socket that listens at `address`, whose port becomes the true one. Throws Error, as when the port is in use.
Descriptor listen_at(HttpAddress& address);

}  // namespace lp::launch

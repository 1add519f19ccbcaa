// Any bytes as a request of HTTP: a request, or a refusal. When they come byte for byte they are the same request, and
// what is refused is no request either.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "launchers/http/http_message.h"

namespace {

std::optional<lp::launch::HttpRequest> read(std::string_view bytes, std::size_t piece) {
  lp::launch::HttpRequestReader reader;
  std::size_t used = 0;
  for (std::size_t end = piece; used < bytes.size(); end += piece) {
    const std::string_view here = bytes.substr(used, end < used ? 0 : end - used);
    const std::size_t now_used = reader.read(here);
    if (now_used > here.size()) std::abort();
    used += now_used;
    static_cast<void>(reader.must_continue());
    if (auto request = reader.take()) return request;
    if (reader.refusal().has_value() || end >= bytes.size()) break;
  }
  return std::nullopt;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto whole = read(bytes, size + 1);
  const auto pieces = read(bytes, 1);
  if (whole.has_value() != pieces.has_value()) std::abort();
  if (!whole.has_value()) return 0;
  if (whole->path != pieces->path || whole->body != pieces->body) std::abort();
  static_cast<void>(lp::launch::refusal_of_origin(*whole, {}));
  return 0;
}

// Any bytes as a request of HTTP: a request, or a refusal. They come whole, and byte for byte with the same outcome.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "launchers/http/http_message.h"

namespace {

struct Outcome {
  std::optional<lp::launch::HttpRequest> request{};
  bool refused = false;
};

Outcome read(std::string_view bytes, std::size_t piece) {
  lp::launch::HttpRequestReader reader;
  std::size_t used = 0;
  for (std::size_t end = piece; used < bytes.size(); end += piece) {
    const std::string_view here = bytes.substr(used, end < used ? 0 : end - used);
    const std::size_t now_used = reader.read(here);
    if (now_used > here.size()) std::abort();
    used += now_used;
    static_cast<void>(reader.must_continue());
    if (auto request = reader.take()) return {.request = std::move(request)};
    if (reader.refusal().has_value()) return {.refused = true};
    if (end >= bytes.size()) break;
  }
  return {};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Outcome whole = read(bytes, size + 1);
  const Outcome pieces = read(bytes, 1);
  if (whole.refused != pieces.refused || whole.request.has_value() != pieces.request.has_value()) std::abort();
  if (!whole.request.has_value()) return 0;
  if (whole.request->path != pieces.request->path || whole.request->body != pieces.request->body) std::abort();
  static_cast<void>(lp::launch::refusal_of_origin(*whole.request, {}));
  return 0;
}

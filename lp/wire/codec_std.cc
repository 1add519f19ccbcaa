#include "lp/wire/codec_std.h"

#include <span>

#include "lp/base/error.h"

namespace lp {

void Codec<std::string>::encode(Writer& writer, const std::string& text) {
  writer.count(text.size());
  writer.array(text.data(), text.size());
}

std::string Codec<std::string>::decode(Reader& reader) {
  const std::span<const std::byte> bytes = reader.array(reader.number<std::uint64_t>(), 1);
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

namespace wire {

void check_bools(const Reader& reader, std::span<const std::byte> bytes) {
  std::byte all{0};
  for (const std::byte byte : bytes) all |= byte;
  if (all > std::byte{1}) reader.fail("a bool is neither 0 nor 1");
}

void fail_valueless() {
  throw Error(ErrorKind::failed, "a variant cannot be sent: an exception has left it without a value");
}

}  // namespace wire
}  // namespace lp

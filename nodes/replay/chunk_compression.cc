#include "nodes/replay/chunk_compression.h"

#include <zstd.h>

#include <string>

#include "lp/base/error.h"

namespace lp::replay {

Buffer compress(std::span<const std::byte> bytes) {
  constexpr int kLevel = 1;
  Buffer compressed = Buffer::uninitialized(ZSTD_compressBound(bytes.size()));
  const std::size_t size =
      ZSTD_compress(compressed.edit().data(), compressed.size(), bytes.data(), bytes.size(), kLevel);
  if (ZSTD_isError(size) != 0) {
    throw Error(ErrorKind::failed, std::string("a chunk cannot be compressed: ") + ZSTD_getErrorName(size));
  }
  return Buffer::copy_of(compressed.bytes().first(size));
}

std::uint64_t size_of_compressed(std::span<const std::byte> compressed) {
  const unsigned long long size = ZSTD_getFrameContentSize(compressed.data(), compressed.size());
  return size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR ? 0 : size;
}

Buffer decompress(std::span<const std::byte> compressed, std::size_t expected) {
  Buffer bytes = Buffer::uninitialized(expected);
  const std::size_t size = ZSTD_decompress(bytes.edit().data(), expected, compressed.data(), compressed.size());
  if (ZSTD_isError(size) != 0 || size != expected) {
    throw Error(ErrorKind::failed,
                "a compressed chunk is damaged: " +
                    (ZSTD_isError(size) != 0 ? std::string(ZSTD_getErrorName(size))
                                             : std::to_string(size) + " bytes instead of " + std::to_string(expected)));
  }
  return bytes;
}

}  // namespace lp::replay

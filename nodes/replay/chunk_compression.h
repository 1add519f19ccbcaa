#pragma once
// Compression of chunks by zstd, level 1: of the fast ones the one that saves most. Pure functions: any thread.

#include <cstddef>
#include <cstdint>
#include <span>

#include "lp/base/array.h"

namespace lp::replay {

// Error::failed when zstd fails, which only a lack of memory makes it do.
Buffer compress(std::span<const std::byte> bytes);
// The size of the bytes that were compressed; 0 when `compressed` does not begin as such.
std::uint64_t size_of_compressed(std::span<const std::byte> compressed);
// Error::failed when the bytes are damaged or have another size than expected.
Buffer decompress(std::span<const std::byte> compressed, std::size_t expected);

}  // namespace lp::replay

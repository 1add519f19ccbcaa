#pragma once
// A hash that is the same in every build, process and run: for keys that choose a replica, for names of random streams
// and for fingerprints. Not for untrusted input and not cryptographic. Pure: any thread.

#include <cstdint>
#include <string_view>

namespace lp {

// FNV-1a with 64 bits (Fowler, Noll, Vo; draft-eastlake-fnv). Stable for ever. To hash several pieces as one, pass the
// hash of those before as `start`.
constexpr std::uint64_t hash64(std::string_view bytes, std::uint64_t start = 0xcbf29ce484222325U) {
  std::uint64_t hash = start;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x00000100000001b3U;
  return hash;
}

}  // namespace lp

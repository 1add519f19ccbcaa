#pragma once
// The hash of a key, eight bytes at a time: it decides the partition of a key, so it is the same in every build and on
// every machine. Do not use it where an attacker chooses the keys and collisions matter. Pure functions.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace lp::dataflow {

// Multiplies to 128 bits and folds them, as wyhash does (Wang Yi, 2019).
inline std::uint64_t fold_multiply(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline std::uint64_t key_hash(std::string_view key) {
  constexpr std::uint64_t kA = 0x9e3779b97f4a7c15u, kB = 0xbf58476d1ce4e5b9u;  // odd, with half of their bits set
  const auto load = [](const char* from, std::size_t size) {
    std::uint64_t out = 0;
    std::memcpy(&out, from, size);
    return out;
  };
  const char* at = key.data();
  std::size_t left = key.size();
  std::uint64_t hash = kB ^ left;
  for (; left > 16; at += 16, left -= 16) hash = fold_multiply(load(at, 8) ^ kA, load(at + 8, 8) ^ hash);
  std::uint64_t low = 0, high = 0;
  if (left >= 8) {
    low = load(at, 8);
    high = load(at + left - 8, 8);  // may overlap: the length is in the hash
  } else if (left >= 4) {
    low = load(at, 4);
    high = load(at + left - 4, 4);
  } else if (left > 0) {
    low = static_cast<unsigned char>(at[0]) | std::uint64_t{static_cast<unsigned char>(at[left / 2])} << 8 |
          std::uint64_t{static_cast<unsigned char>(at[left - 1])} << 16;
  }
  return fold_multiply(fold_multiply(low ^ kA, high ^ hash), kB);
}

}  // namespace lp::dataflow

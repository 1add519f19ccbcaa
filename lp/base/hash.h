#pragma once
// Hashes that are the same in every build, on every machine and for ever, because they travel, are stored, and decide
// where a key lives. Do not use them for hash tables that an attacker can feed. Pure functions: any thread.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lp {

// 64-bit FNV-1a of the characters (G. Fowler, L. C. Noll, K.-P. Vo); `hash` continues an earlier one.
constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t hash = 0xcbf29ce484222325u) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

// A bijection whose every output bit depends on every input bit: one step of SplitMix64 from state `x` (G. Steele,
// D. Lea, C. Flood: Fast splittable pseudorandom number generators, 2014).
constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Adds one value to the hash of a sequence: order matters.
constexpr std::uint64_t hash_combine(std::uint64_t hash, std::uint64_t value) { return mix64(hash ^ mix64(value)); }

// Returns the partition, out of at least one, to which a key belongs. lp::Clients::by_key calls the replica at this
// position. Items that are sent in batches are divided by it first.
constexpr std::size_t partition_of(std::uint64_t key, std::size_t partitions) { return mix64(key) % partitions; }
constexpr std::size_t partition_of(std::string_view key, std::size_t partitions) {
  return partition_of(fnv1a(key), partitions);
}

}  // namespace lp

#include "nodes/parameters/parameter_messages.h"

#include <array>
#include <cstddef>

#include "lp/base/hash.h"

namespace lp {

// There are four chains, because the processor computes them in parallel.
std::uint64_t hash_of(const Array<std::uint64_t>& keys) {
  std::array<std::uint64_t, 4> chains{1, 2, 3, 4};
  std::size_t i = 0;
  for (; i + 4 <= keys.size(); i += 4) {
    for (std::size_t k = 0; k < 4; ++k) chains[k] = mix64(chains[k] ^ keys[i + k]);
  }
  for (; i < keys.size(); ++i) chains[0] = mix64(chains[0] ^ keys[i]);
  std::uint64_t hash = keys.size();
  for (const std::uint64_t chain : chains) hash = hash_combine(hash, chain);
  return hash == 0 ? 1 : hash;
}

}  // namespace lp

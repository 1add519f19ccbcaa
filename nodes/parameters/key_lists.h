#pragma once
// Key lists that a server was sent, so that a repeated list can be sent as its hash. Their memory is bounded: the least
// recently used list is dropped first, and its sender is asked for it again.
//
// Owned by a ParameterServer; in its turn.

#include <cstdint>
#include <map>

#include "lp/base/array.h"
#include "nodes/parameters/parameter_messages.h"

namespace lp {

class KeyLists {
 public:
  explicit KeyLists(std::uint64_t most_bytes = std::uint64_t{256} << 20) : most_bytes_(most_bytes) {}

  // Fills in the list of the hash in `keys`, or stores the list that `keys` has. Returns false when `keys` has only a
  // hash, and its list is not here.
  bool resolve(KeySet& keys);

 private:
  struct Entry {
    Array<std::uint64_t> list{};
    std::uint64_t used = 0;
  };
  void keep(const KeySet& keys);

  std::uint64_t most_bytes_;
  std::uint64_t bytes_ = 0;
  std::uint64_t uses_ = 0;
  std::map<std::uint64_t, Entry> lists_{};
};

}  // namespace lp

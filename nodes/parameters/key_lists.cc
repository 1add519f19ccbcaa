#include "nodes/parameters/key_lists.h"

#include <algorithm>
#include <string>

#include "lp/base/error.h"

namespace lp {

bool KeyLists::resolve(KeySet& keys) {
  if (keys.hash == 0) return true;
  const auto known = lists_.find(keys.hash);
  if (known != lists_.end()) {
    known->second.used = ++uses_;
    if (keys.list.empty()) keys.list = known->second.list;
    return true;
  }
  if (keys.list.empty()) return false;
  if (hash_of(keys.list) != keys.hash) {
    throw Error(ErrorKind::failed,
                "a list of " + std::to_string(keys.list.size()) + " keys has a wrong hash: give hash_of(list), or 0");
  }
  keep(keys);
  return true;
}

void KeyLists::keep(const KeySet& keys) {
  const std::uint64_t size = keys.list.size() * sizeof(std::uint64_t);
  if (size > most_bytes_) return;
  while (bytes_ + size > most_bytes_) {
    const auto oldest = std::min_element(lists_.begin(), lists_.end(),
                                         [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
    bytes_ -= oldest->second.list.size() * sizeof(std::uint64_t);
    lists_.erase(oldest);
  }
  lists_[keys.hash] = {keys.list, ++uses_};
  bytes_ += size;
}

}  // namespace lp

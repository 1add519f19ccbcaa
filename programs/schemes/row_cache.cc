#include "programs/schemes/row_cache.h"

#include <algorithm>
#include <string>

#include "lp/base/error.h"

namespace lp {

Array<std::uint64_t> RowCache::stale(const Array<std::uint64_t>& keys, std::uint64_t now) {
  std::vector<std::uint64_t> out;
  for (const std::uint64_t key : keys) {
    const auto row = rows_.find(key);
    if (row == rows_.end() || !serves(row->second.clock, now)) out.push_back(key);
  }
  misses_ += out.size();
  hits_ += keys.size() - out.size();
  return out.size() == keys.size() ? keys : Array<std::uint64_t>::copy_of(out);
}

void RowCache::put(const Array<std::uint64_t>& keys, std::span<const float> rows, std::uint64_t clock) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto [row, added] = rows_.try_emplace(keys[i], Row{values_.size(), clock});
    if (added) values_.resize(values_.size() + width_);
    row->second.clock = clock;
    std::copy_n(rows.data() + i * width_, width_, values_.data() + row->second.at);
  }
}

void RowCache::read(const Array<std::uint64_t>& keys, std::span<float> rows) const {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto row = rows_.find(keys[i]);
    if (row == rows_.end()) {
      throw Error(ErrorKind::failed,
                  "row " + std::to_string(keys[i]) + " was never fetched: call stale() to learn what to fetch");
    }
    std::copy_n(values_.data() + row->second.at, width_, rows.data() + i * width_);
  }
}

void RowCache::add(const Array<std::uint64_t>& keys, std::span<const float> changes) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto row = rows_.find(keys[i]);
    if (row == rows_.end()) continue;
    for (std::size_t k = 0; k < width_; ++k) values_[row->second.at + k] += changes[i * width_ + k];
  }
}

void RowCache::clear() {
  rows_.clear();
  values_.clear();
}

}  // namespace lp

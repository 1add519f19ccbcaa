#pragma once
// A map function emits its pairs through this. Owned by a task; one thread.

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>

#include "nodes/dataflow/key_codec.h"
#include "nodes/dataflow/map_output.h"

namespace lp {

template <dataflow::Key K, dataflow::Value V>
class Emit {
 public:
  // Combines a value with another: fold(job, sum, one).
  using Fold = void (*)(const void* job, V& sum, const V& one);

  Emit(dataflow::MapOutput& output, Fold fold, const void* job) : output_(output), fold_(fold), job_(job) {}

  void operator()(const K& key, const V& value) {
    const dataflow::KeyBytes<K> bytes(key);
    if constexpr (std::is_trivially_copyable_v<V> && !dataflow::TextKey<V>) {
      if (fold_ != nullptr) return combine(bytes.view(), value);
    }
    output_.add({bytes.view(), dataflow::value_bytes(value)});
  }
  // Adds to a counter of the job, which the result of the run shows.
  void count(std::string_view counter, std::uint64_t by = 1) {
    auto at = counts_.find(counter);
    if (at == counts_.end()) at = counts_.emplace(std::string(counter), 0).first;
    at->second += by;
  }
  const std::string& path() const { return *path_; }  // the record's file
  std::uint64_t offset() const { return offset_; }    // the place of the record in it
  // For a task: where the next record comes from.
  void set_place(const std::string& path, std::uint64_t offset) {
    path_ = &path;
    offset_ = offset;
  }
  const std::map<std::string, std::uint64_t, std::less<>>& counts() const { return counts_; }

 private:
  void combine(std::string_view key, const V& value) {
    bool added = false;
    char* const at = output_.find_or_add(key, added);
    V sum = value;
    if (!added) {
      std::memcpy(&sum, at, sizeof(V));
      fold_(job_, sum, value);
    }
    std::memcpy(at, &sum, sizeof(V));
  }

  dataflow::MapOutput& output_;
  const Fold fold_;
  const void* const job_;
  const std::string* path_ = nullptr;
  std::uint64_t offset_ = 0;
  std::map<std::string, std::uint64_t, std::less<>> counts_{};
};

}  // namespace lp

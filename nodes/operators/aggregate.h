#pragma once
// Sums over all records of a key, of a stream that ends: in a bounded amount of memory, with sorted runs on disk when
// that is too little. The senders combine the records of a key first, as far as their memory goes. The results come at
// the end, in the order of the keys.
//
// Owned by a stage; one thread.

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nodes/dataflow/combine_table.h"
#include "nodes/dataflow/groups.h"
#include "nodes/dataflow/key_codec.h"
#include "nodes/dataflow/map_output.h"
#include "nodes/dataflow/record_codec.h"
#include "nodes/operators/at_end.h"
#include "nodes/stream/frame_output.h"
#include "nodes/stream/operator.h"
#include "nodes/stream/stage_plan.h"
#include "nodes/stream/unusable.h"

namespace lp::dataflow {

// Adds records to sums: add(sum, record), and merge(sum, other sum). A sum that begins is Sum().
template <class K, class T, class Sum, class KeyOf, class Add>
class CombiningWriter final : public Operator, public Consumer<T> {
 public:
  CombiningWriter(const StageSite& site, FrameOutput& output, KeyOf key_of, Add add)
      : stage_(site.stage),
        bad_(site.bad),
        output_(output),
        key_of_(std::move(key_of)),
        add_(std::move(add)),
        table_(site.options.memory / 4, sizeof(Sum)) {}

  void take(std::span<const T> records) override {
    for (const T& one : records) {
      const std::optional<K> key = key_of(one);
      if (!key) continue;
      const KeyBytes<K> bytes(*key);
      if (bad_.allowed() && !fits(bytes.view(), one)) continue;
      bool added = false;
      char* at = table_.find_or_add(bytes.view(), added);
      if (at == nullptr) [[unlikely]] {
        at = add_to_full(bytes.view(), added);
      }
      const auto sum_with = [&] {
        Sum sum{};
        if (!added) std::memcpy(&sum, at, sizeof(Sum));
        add_(sum, one);
        return sum;
      };
      try {
        const Sum sum = sum_with();
        std::memcpy(at, &sum, sizeof(Sum));
      } catch (...) {
        if (const Sum none{}; added) std::memcpy(at, &none, sizeof(Sum));  // the record may come again
        fail_at({.key = key_name(*key)}, sum_with);
      }
    }
  }
  void mark(const Mark& mark) override {
    if (mark.kind != MarkKind::watermark) flush();  // nobody waits for these sums before the end
    output_.mark(mark);
  }

 private:
  // Nothing for a record that is left out.
  std::optional<K> key_of(const T& record) const {
    try {
      return key_of_(record);
    } catch (...) {
      bad_.skip();
      return {};
    }
  }
  // Whether the record can be added; else it is left out. It is tried with a copy of the sum.
  bool fits(std::string_view key, const T& record) {
    Sum sum{};
    if (const char* const at = table_.find(key)) std::memcpy(&sum, at, sizeof(Sum));
    try {
      add_(sum, record);
    } catch (...) {
      bad_.skip({.key = key_name(dataflow::key_of<K>(key))});
      return false;
    }
    return true;
  }
  char* add_to_full(std::string_view key, bool& added) {
    flush();
    char* const at = table_.find_or_add(key, added);
    if (at == nullptr)
      throw Unusable("a key of the stage " + stage_ + " is larger than PipelineOptions::memory: raise it");
    return at;
  }
  void flush() {
    if (table_.empty()) return;
    output_.count(table_.size());
    for (const SortEntry& one : table_.sorted(Partitioner(1))) {
      const Pair pair = table_.pair_at(one);
      output_.write(replica_of_group(key_group(pair.key), output_.receivers()), std::pair(pair.key, pair.value));
    }
    table_.clear();
  }

  const std::string stage_;
  const BadRecords& bad_;
  FrameOutput& output_;
  KeyOf key_of_;
  Add add_;
  CombineTable table_;
};

// Takes the pairs of key and sum that writers send.
template <class K, class Sum, class Merge2>
class SumByKey final : public AtEnd<std::pair<std::string_view, std::string_view>, std::pair<K, Sum>> {
 public:
  using Part = std::pair<std::string_view, std::string_view>;
  SumByKey(StageSite& site, Merge2 merge)
      : AtEnd<Part, std::pair<K, Sum>>(site, sizeof(Sum)), merge_(std::move(merge)) {}

  void take(std::span<const Part> parts) override {
    for (const auto& [key, part] : parts) {
      bool added = false;
      char* const at = this->state_.output().find_or_add(key, added);
      if (!added) {
        Sum sum{}, other{};
        std::memcpy(&sum, at, sizeof(Sum));
        std::memcpy(&other, part.data(), sizeof(Sum));
        join(key, sum, other);
        std::memcpy(at, &sum, sizeof(Sum));
      } else {
        std::memcpy(at, part.data(), sizeof(Sum));
      }
    }
  }

 private:
  void join(std::string_view key, Sum& sum, const Sum& other) {
    const Sum before = sum;
    try {
      merge_(sum, other);
    } catch (...) {
      fail_at({.location = "the sums of " + key_name(key_of<K>(key))}, [&] { merge_(sum = before, other); });
    }
  }
  void make_results() override {
    Results<std::pair<K, Sum>> out(*this, [](const auto& one) { return "the sum of " + key_name(one.first); });
    Groups groups = this->state_.groups();
    while (groups.next()) {
      if (!this->state_.owns(groups.key())) continue;
      Sum sum{};
      std::string_view bytes;
      for (bool first = true; groups.next_value(bytes); first = false) {
        const Sum one = value_of<Sum>(bytes);
        if (first) {
          sum = one;
        } else {
          join(groups.key(), sum, one);
        }
      }
      out({key_of<K>(groups.key()), sum});
      if constexpr (std::is_same_v<K, std::string_view>) out.flush();
    }
    out.flush();
  }

  Merge2 merge_;
};

}  // namespace lp::dataflow

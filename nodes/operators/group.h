#pragma once
// All records of a key together, of a stream that ends: sorted by key on disk, as far as they do not fit into memory.
// Owned by a stage; one thread.

#include <cstddef>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "nodes/dataflow/groups.h"
#include "nodes/dataflow/key_codec.h"
#include "nodes/dataflow/record_codec.h"
#include "nodes/operators/at_end.h"
#include "nodes/stream/operator.h"
#include "nodes/stream/stage_plan.h"

namespace lp {

// The records of one key, for `for (const T& record : records)`, once. A std::string_view is valid until the next one.
template <class T>
class Records {
 public:
  explicit Records(dataflow::Groups& groups) : groups_(groups) {}
  // The next one as bytes. Returns false when there is none.
  bool next_bytes(std::string_view& bytes) { return groups_.next_value(bytes); }

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    explicit Iterator(Records* records) : records_(records) { ++*this; }
    const T& operator*() const { return *record_; }
    Iterator& operator++() {
      std::string_view bytes;
      record_.reset();
      if (records_->next_bytes(bytes)) {
        dataflow::RecordBytes in(bytes);
        record_.emplace(dataflow::read_record<T>(in));
      }
      return *this;
    }
    bool operator==(std::default_sentinel_t) const { return !record_; }

   private:
    Records* records_;
    std::optional<T> record_{};
  };
  Iterator begin() { return Iterator(this); }
  static std::default_sentinel_t end() { return {}; }

 private:
  dataflow::Groups& groups_;
};

namespace dataflow {

// f(key, records, collector), once for each key, in the order of the keys.
template <class K, class T, class U, class KeyOf, class F>
class GroupByKey final : public AtEndByKey<K, T, U> {
 public:
  GroupByKey(StageSite& site, KeyOf key_of, F f)
      : AtEndByKey<K, T, U>(site, std::nullopt), bad_(site.bad), key_of_(std::move(key_of)), f_(std::move(f)) {}

  void take(std::span<const T> records) override {
    for (const T& one : records) {
      record_.clear();
      write_record(record_, one);
      const K key = key_of_(one);
      this->state_.output().add({KeyBytes<K>(key).view(), record_.view()});
    }
  }

 private:
  void make_result(Groups& groups) override {
    out_.clear();
    Records<T> records(groups);
    const auto key = key_of<K>(groups.key());
    out_.make(
        bad_, [&] { f_(key, records, out_); }, [&] { return records_of_key(key); });
    out_.flush();  // before the bytes of the key go
  }

  const BadRecords& bad_;
  KeyOf key_of_;
  F f_;
  RecordWriter record_{};
  Collector<U> out_{*this};
};

// Calls out(f(left, right)) for each pair. One on which f fails may be left out.
template <class F>
struct EachPair {
  F f;
  template <class A, class B, class Out>
  void operator()(const std::vector<A>& lefts, const std::vector<B>& rights, Out& out) const {
    for (const A& left : lefts) {
      for (const B& right : rights) {
        out.attempt([&] { out(f(left, right)); }, [] { return std::string("a pair of records that are joined"); });
      }
    }
  }
};

// A record of one of two flows that are joined.
template <class A, class B>
struct Either {
  std::optional<A> left{};
  std::optional<B> right{};
};

// A record of a key that was divided into parts.
template <class T>
struct OfPart {
  std::string key{};  // its bytes, and the number of the part
  T record{};
  bool first() const { return key.back() == '\0'; }  // whether it is of the first part
};

// The records of both flows. They refer to the bags.
template <class A, class B>
std::pair<std::vector<A>, std::vector<B>> split(const std::vector<Either<A, B>>& both) {
  std::pair<std::vector<A>, std::vector<B>> out;
  for (const Either<A, B>& one : both) {
    if (one.left) out.first.push_back(*one.left);
    if (one.right) out.second.push_back(*one.right);
  }
  return out;
}

}  // namespace dataflow
}  // namespace lp

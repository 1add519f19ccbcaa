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
#include "nodes/operators/state_budget.h"
#include "nodes/stream/operator.h"
#include "nodes/stream/record_bag.h"
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

// Which of two flows a record of a key came from: the last byte of its value in a run.
enum class Side : char { left, right };

// Adds records to a sorted state, each with its side.
class SideWriter {
 public:
  template <class K, class T>
  void add(SortedState& state, const K& key, const T& record, Side side) {
    bytes_.clear();
    write_record(bytes_, record);
    bytes_.number(side);
    state.output().add({KeyBytes<K>(key).view(), bytes_.view()});
  }

 private:
  RecordWriter bytes_{};
};

// f(key, lefts, rights, collector), once for each key of either flow, in the order of the keys. The records of a key
// are in memory, and end the run when that is too little. Its children take the records.
template <class K, class A, class B, class T, class U, class F>
class CoGroup : public AtEndByKey<K, T, U> {
 protected:
  CoGroup(StageSite& site, F f)
      : AtEndByKey<K, T, U>(site, std::nullopt),
        bad_(site.bad),
        f_(std::move(f)),
        budget_(site, "the records of a key") {}
  template <class R>
  void add(const K& key, const R& record, Side side) {
    writer_.add(this->state_, key, record, side);
  }

 private:
  void make_result(Groups& groups) final {
    out_.clear();
    const auto key = key_of<K>(groups.key());
    RecordBag lefts, rights;
    for (std::string_view value; groups.next_value(value);) {
      RecordBag& bag = value.back() == static_cast<char>(Side::left) ? lefts : rights;
      bag.add_bytes(value.substr(0, value.size() - 1), 1);
      if (lefts.bytes_with_records<A>() + rights.bytes_with_records<B>() > budget_.memory()) {
        budget_.fail(records_of_key(key), "make several keys of this one");
      }
    }
    const auto call = [&] {
      const std::vector<A> left = lefts.records<A>();
      const std::vector<B> right = rights.records<B>();
      f_(key, left, right, out_);
    };
    out_.make(bad_, call, [&] { return records_of_key(key); });
    out_.flush();  // before the bytes go
  }

  const BadRecords& bad_;
  F f_;
  const StateBudget budget_;
  SideWriter writer_{};
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

// The records of both flows by key.
template <class K, class A, class B, class U, class KeyOf, class F>
class CoGroupByKey final : public CoGroup<K, A, B, Either<A, B>, U, F> {
 public:
  CoGroupByKey(StageSite& site, KeyOf key_of, F f)
      : CoGroup<K, A, B, Either<A, B>, U, F>(site, std::move(f)), key_of_(std::move(key_of)) {}
  void take(std::span<const Either<A, B>> records) override {
    for (const Either<A, B>& one : records) {
      const K key = key_of_(one);
      if (one.left) {
        this->add(key, *one.left, Side::left);
      } else {
        this->add(key, *one.right, Side::right);
      }
    }
  }

 private:
  KeyOf key_of_;
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

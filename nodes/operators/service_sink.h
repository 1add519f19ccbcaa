#pragma once
// Hands records to a method of a service, once each. The records between two cuts make one call, which is made when the
// cut behind them is complete, under the cut's number. The method is a `once` method: a call that is made again after a
// restart has the same number and the same records.
//
// Owned by a stage; one thread.

#include <cstdint>
#include <map>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "lp/rpc/client.h"
#include "nodes/dataflow/record_codec.h"
#include "nodes/stream/operator.h"
#include "nodes/stream/stage_plan.h"

namespace lp::dataflow {

template <class T, class S, auto M>
class ServiceSink final : public Operator, public Consumer<T> {
 public:
  ServiceSink(StageSite& site, Client<S> service) : counts_(site.counts), service_(std::move(service)) {}

  void take(std::span<const T> records) override {
    counts_.results += records.size();
    records_.insert(records_.end(), records.begin(), records.end());
  }
  void mark(const Mark&) override {}
  void cut(std::uint64_t number) override {
    if (!records_.empty()) waiting_.emplace(number, std::exchange(records_, {}));
  }
  void commit(std::uint64_t number) override {
    while (!waiting_.empty() && waiting_.begin()->first <= number) {
      service_.numbered(waiting_.begin()->first).template call<M>(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
    }
  }
  void save(OperatorState& out) const override {
    for (const auto& call : waiting_) {
      RecordWriter bytes;
      write_record(bytes, call.first);
      write_record(bytes, call.second);
      out.push_back({.bytes = bytes.take(0)});
    }
  }
  void load(const StatePiece& piece) override {
    RecordBytes in(piece.bytes);
    const auto number = in.number<std::uint64_t>();
    auto records = read_record<std::vector<T>>(in);
    std::vector<T>& all = waiting_[number];
    all.insert(all.end(), records.begin(), records.end());
  }

 private:
  StageCounts& counts_;
  const Client<S> service_;
  std::vector<T> records_{};                           // since the last cut
  std::map<std::uint64_t, std::vector<T>> waiting_{};  // for the end of their cuts
};

}  // namespace lp::dataflow

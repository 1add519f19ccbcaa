#pragma once
// The values that a method of a service streams, as the first operator of a stage with one replica. A method that takes
// a position, a std::uint64_t, streams all values from that number on: so the values since the last cut are read again
// when the stage goes back to it. Values of a method without arguments, such as a plain Feed, are then lost.
//
// Owned by a stage; one thread.

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "lp/base/error.h"
#include "lp/rpc/client.h"
#include "lp/rpc/stream.h"
#include "nodes/dataflow/record_codec.h"
#include "nodes/stream/operator.h"
#include "nodes/stream/stage_plan.h"

namespace lp::dataflow {

template <class T, class S, auto M>
class ServiceSource final : public Operator, public StageSource, public Producer<T> {
 public:
  ServiceSource(const StageSite& site, Client<S> service)
      : batch_(site.bad.allowed() ? 1 : kBatch), service_(std::move(service)) {
    waker_->wake = site.wake;
  }
  ~ServiceSource() override {
    const std::lock_guard lock(waker_->mutex);
    waker_->wake = nullptr;
  }

  Step step() override {
    first_ = position_;
    handed_ = 0;
    try {
      if (!reader_) open();
      if (!reader_->wait_for({})) {
        ask_to_wake();
        return Step::idle;
      }
      asked_ = false;
      for (std::size_t read = 0; read < batch_ && reader_->wait_for({}); ++read) {
        std::optional<T> next = reader_->next();
        if (!next) {
          out_.flush();
          return Step::over;
        }
        out_(std::move(*next));
        ++position_;
      }
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::disconnected || out_.handing_on()) throw;
      reader_.reset();  // the service is restarted: goes on where it was
      asked_ = false;
    }
    out_.flush();
    return Step::read;
  }
  Duration idle_time() const override { return kForever; }
  void mark(const Mark& mark) override { this->emit_mark(mark); }
  void again() override { out_.again(handed_); }
  std::string location() const override { return "the value of the number " + std::to_string(first_ + handed_); }
  void save(OperatorState& out) const override {
    RecordWriter bytes;
    bytes.number(position_);
    out.push_back({.group = kEveryReplica, .bytes = bytes.take(0)});
  }
  void load(const StatePiece& piece) override { position_ = RecordBytes(piece.bytes).number<std::uint64_t>(); }

 private:
  // Shared with the answer that is to come, which may come after the stage's end.
  struct Waker {
    std::mutex mutex{};
    std::function<void()> wake{};
  };

  // The next value, or the end of the stream, wakes the stage.
  void ask_to_wake() {
    if (std::exchange(asked_, true)) return;
    reader_->on_ready([waker = waker_] {
      const std::lock_guard lock(waker->mutex);
      if (waker->wake) waker->wake();
    });
  }
  void open() {
    if constexpr (rpc::TypesOf<S, M>::Params::size == 1) {
      reader_.emplace(service_.template stream<M>(position_));
    } else {
      reader_.emplace(service_.template stream<M>());
    }
  }

  const std::size_t batch_;
  const Client<S> service_;
  std::optional<StreamReader<T>> reader_{};
  const std::shared_ptr<Waker> waker_ = std::make_shared<Waker>();
  bool asked_ = false;          // the next value wakes the stage
  std::uint64_t position_ = 0;  // number of the next value
  std::uint64_t first_ = 0;     // that of the batch
  std::size_t handed_ = 0;      // number in the batch of the value that was handed on last, alone
  Collector<T> out_{*this};
};

}  // namespace lp::dataflow

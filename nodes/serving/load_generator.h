#pragma once
// Loads a service with requests, to see how many it answers, in which time, and how it ends the others.
//
//   const auto send = [&](std::uint64_t number) {
//     return servers.async<&Digits::ask>(images[number % images.size()], 0U);
//   };
//   const auto answered = [](std::uint64_t, const lp::Answer<int>&) {};
//   const lp::LoadReport report = lp::drive_load({.rate = 2000}, send, answered);
//
// drive_load() runs in one thread, and its continuations in others. A LoadReport is a value.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/random.h"
#include "lp/base/scheduler.h"
#include "lp/rpc/core/future.h"

namespace lp {

struct RequestLoad {
  Duration length = std::chrono::seconds(1);
  double rate = 0;             // requests a second, at random times; 0: the next one when another has ended
  std::size_t under_way = 64;  // requests at a time; with a rate, more wait to be sent
  std::uint64_t seed = 0;      // decides the times
};

struct LoadReport {
  double seconds = 0;
  std::uint64_t answered = 0;
  std::uint64_t refused = 0;          // `overloaded`
  std::uint64_t late = 0;             // `deadline`
  std::uint64_t failed = 0;           // with another error
  std::vector<float> milliseconds{};  // the times of those that were answered

  std::uint64_t asked() const { return answered + refused + late + failed; }
  // Answers a second.
  double rate() const { return seconds > 0 ? static_cast<double>(answered) / seconds : 0; }
  // The count as a share of all requests.
  double share(std::uint64_t count) const;
  // Milliseconds that this share of the answers (0 to 1) took at most; 0 without answers.
  double quantile(double share) const;
  // Adds the report of another client that sent at the same time.
  void add(const LoadReport& other);
};

namespace internal {

// The requests of one drive_load(). Thread-safe.
class LoadTally {
 public:
  explicit LoadTally(std::size_t under_way) : room_(under_way) {}

  void begin();   // waits until there is room for one more
  void finish();  // waits until all have ended
  template <class Accept>
  void answered(Time begun, Accept accept) {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    ++report_.answered;
    report_.milliseconds.push_back(static_cast<float>(to_seconds(now() - begun) * 1e3));
    accept();
    end();
  }
  void failed(const Error& error);
  // From now on nothing is accepted: what `accept` refers to may be gone.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  LoadReport take(double seconds);

 private:
  void wait_below(std::size_t count);
  void end();

  const std::size_t room_;
  std::mutex mutex_{};
  bool closed_ = false;
  std::size_t under_way_ = 0;
  std::size_t wanted_ = 0;  // waiter_ waits until so few are under way
  std::optional<Promise<void>> waiter_{};
  LoadReport report_{};
};

// Closes it at the end, also after an exception.
struct ClosesTally {
  explicit ClosesTally(LoadTally& given) : tally(given) {}
  ~ClosesTally() { tally.close(); }
  ClosesTally(const ClosesTally&) = delete;
  ClosesTally& operator=(const ClosesTally&) = delete;
  LoadTally& tally;
};

// Waits until the time, or until the node is asked to stop, and then throws Error::stopped.
void wait_until(Time time);

}  // namespace internal

// Sends requests with send(number), number = 0, 1, ..., which returns a Future, and hands each answer to
// accept(number, answer), one at a time. Returns when all have ended. It throws Error::stopped when the node is asked
// to stop: requests may still be under way then, but no answer is accepted any more.
template <class Send, class Accept>
LoadReport drive_load(const RequestLoad& options, Send send, Accept accept) {
  const auto tally = std::make_shared<internal::LoadTally>(options.under_way);  // shared with the continuations
  const internal::ClosesTally closes(*tally);
  const Time begin = now();
  const Time end = later(begin, options.length);
  Random random(options.seed, "load");
  Time next = begin;
  for (std::uint64_t number = 0; !passed(end); ++number) {
    if (options.rate > 0) {
      next = later(next, from_seconds(-std::log(1 - random.uniform()) / options.rate));
      if (next >= end) break;
      internal::wait_until(next);
    }
    tally->begin();
    const Time begun = now();
    try {
      auto answer = send(number);
      using Answered = typename decltype(answer)::value_type;
      const auto state = answer.state();
      // In the thread that brings the answer: the client would otherwise measure how it counts.
      rpc::on_ready_anywhere(*state, [tally, begun, accept, number, state]() mutable {
        if (state->failed()) {
          tally->failed(state->error());
        } else {
          tally->answered(begun, [&] { accept(number, state->template value<Answered>()); });
        }
      });
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::stopped) throw;
      tally->failed(error);
    }
  }
  tally->finish();
  return tally->take(to_seconds(now() - begin));
}

}  // namespace lp

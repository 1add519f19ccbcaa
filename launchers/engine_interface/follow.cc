#include "launchers/engine_interface/follow.h"

#include <signal.h>

#include <array>
#include <cstdint>
#include <utility>

#include "launchers/engine_interface/jobs.h"
#include "launchers/os/signals.h"
#include "lp/base/error.h"

namespace lp::launch {
namespace {

constexpr auto kAnswerTimeout = std::chrono::minutes(2);  // for an engine that is busy, or starts again
// The tag of the signals in the poller; the descriptors of a job have others.
constexpr std::uint64_t kSignals = ~std::uint64_t{0};

// Handles output and signals until the next question is due. Returns true when the job is to be left.
bool wait_for_news(FollowedJob& job, Poller& poller, SignalPoller& signals, bool& cancelled) {
  std::array<Poller::Ready, 4> ready;
  for (const Time next = after(kJobPeriod); !passed(next);) {
    const std::size_t count = poller.wait(ready, next);
    bool ask_now = false;
    for (std::size_t i = 0; i < count; ++i) {
      if (ready[i].tag != kSignals) ask_now = job.take_output(poller) || ask_now;
    }
    while (const int signal = signals.take()) {
      if (signal == SIGUSR2) continue;  // the signal is for the job
      if (std::exchange(cancelled, true)) return true;
      job.cancel();
      ask_now = true;
    }
    if (ask_now) return false;
  }
  return false;
}

}  // namespace

int follow(FollowedJob& job) {
  SignalPoller signals;
  Poller poller;
  poller.add(signals.fd(), kSignals);
  bool cancelled = false;
  for (Time answered = now();;) {
    bool has_answer = false;
    try {
      job.ask();
      has_answer = true;
      answered = now();
    } catch (const Error&) {
      if (now() - answered > kAnswerTimeout) throw;
    }
    if (has_answer) {
      if (const auto code = job.report(poller)) return *code;
    }
    if (wait_for_news(job, poller, signals, cancelled)) return kInterrupted;
  }
}

}  // namespace lp::launch

// Signals that ask a run to end, before, while and after it runs.
#include "launchers/os/signals.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

namespace lp::launch {
namespace {

TEST(SignalsDeathTest, BeforeTheRunTheyEndTheProcess) {
  const auto begin = [] {
    const LateSignals late;
    raise(SIGINT);
  };
  EXPECT_EXIT(begin(), testing::KilledBySignal(SIGINT), "");
}

TEST(SignalsDeathTest, BehindTheRunTheyDoNothing) {
  const auto run = [] {
    int taken = 0;
    {
      LateSignals late;
      std::optional<SignalPoller> poller(std::in_place);
      late.ignore();
      raise(SIGTERM);
      taken = poller->take();
      poller.reset();
      for (const int signal : {SIGINT, SIGTERM, SIGHUP}) raise(signal);
    }
    std::_Exit(taken == SIGTERM ? 7 : 8);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(7), "");
}

TEST(SignalsDeathTest, AProcessWhoseResultIsOutEndsByThemAgain) {
  const auto end = [] {
    {
      LateSignals late;
      late.ignore();
    }
    raise(SIGTERM);
  };
  EXPECT_EXIT(end(), testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace lp::launch

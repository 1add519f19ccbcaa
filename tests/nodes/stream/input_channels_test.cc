// The order of frames, and the alignment of barriers.

#include "nodes/stream/input_channels.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/error.h"

namespace lp::dataflow {
namespace {

class InputChannelsTest : public testing::Test {
 protected:
  Future<void> push(std::uint32_t sender, std::uint64_t number, Mark mark = {}) {
    return channels_.push({.sender = sender, .life = 1, .number = number, .mark = mark});
  }
  // The senders and numbers of all frames that can be taken now: by sender, and those of a sender as they are taken.
  std::string taken() {
    std::map<std::uint32_t, std::string> by_sender;
    while (const auto frame = channels_.take()) {
      by_sender[frame->sender] += std::to_string(frame->sender) + ":" + std::to_string(frame->number) + " ";
    }
    std::string out;
    for (const auto& [sender, frames] : by_sender) out += frames;
    return out;
  }

  Signal signal_{};
  InputChannels channels_{{2}, signal_};
};

TEST_F(InputChannelsTest, FramesThatPassOneAnotherAreTakenInTheirOrder) {
  const Future<void> second = push(0, 1);
  EXPECT_EQ(taken(), "");
  const Future<void> first = push(0, 0);
  EXPECT_FALSE(second.ready()) << "its credit comes back when it is taken";
  EXPECT_EQ(taken(), "0:0 0:1 ");
  EXPECT_TRUE(first.ready() && second.ready());
}

TEST_F(InputChannelsTest, AChannelWithABarrierWaitsForTheOthers) {
  auto one = push(0, 0, {MarkKind::barrier, 7});
  auto two = push(0, 1);
  auto three = push(1, 0);
  EXPECT_EQ(taken(), "0:0 1:0 ");
  EXPECT_EQ(channels_.barrier(), 7U);
  EXPECT_FALSE(channels_.aligned());
  auto four = push(1, 1, {MarkKind::barrier, 7});
  EXPECT_EQ(taken(), "1:1 ");
  EXPECT_TRUE(channels_.aligned());
  channels_.go_on();
  EXPECT_EQ(channels_.barrier(), 0U);
  EXPECT_EQ(taken(), "0:1 ");
}

TEST_F(InputChannelsTest, AnEndIsAsGoodAsABarrier) {
  auto one = push(0, 0, {MarkKind::barrier, 7});
  auto two = push(1, 0, {MarkKind::end, 0});
  taken();
  EXPECT_TRUE(channels_.aligned());
  EXPECT_FALSE(channels_.ended());
}

TEST_F(InputChannelsTest, TheWatermarkIsTheLeastOfThoseThatHaveNotEnded) {
  auto one = push(0, 0, {MarkKind::watermark, 5});
  taken();
  EXPECT_EQ(channels_.watermark(), kNoTime);
  auto two = push(1, 0, {MarkKind::watermark, 3});
  taken();
  EXPECT_EQ(channels_.watermark(), 3);
  auto three = push(1, 1, {MarkKind::end, 0});
  taken();
  EXPECT_EQ(channels_.watermark(), 5);
}

TEST_F(InputChannelsTest, TheWatermarkDoesNotWaitForTheIdle) {
  const std::vector<Future<void>> ready = [&] {
    std::vector<Future<void>> out;
    out.push_back(push(0, 0, {MarkKind::watermark, 5}));
    out.push_back(push(1, 0, {MarkKind::watermark, 3}));
    out.push_back(push(1, 1, {MarkKind::idle, 0}));
    return out;
  }();
  taken();
  EXPECT_EQ(channels_.watermark(), 5);
  EXPECT_FALSE(channels_.idle());
  auto barrier = push(1, 2, {MarkKind::barrier, 7});
  taken();
  EXPECT_EQ(channels_.watermark(), 5) << "a barrier is no sign of life";
  auto idle = push(0, 1, {MarkKind::idle, 0});
  taken();
  EXPECT_TRUE(channels_.idle());
  EXPECT_EQ(channels_.watermark(), 5) << "the latest one, in whatever order they became idle";
  channels_.go_on();
  auto again = push(1, 3, {MarkKind::watermark, 4});
  taken();
  EXPECT_FALSE(channels_.idle());
  EXPECT_EQ(channels_.watermark(), 4);
}

TEST_F(InputChannelsTest, FramesOfStrangersAndOfTheDeadAreRefused) {
  EXPECT_THROW(static_cast<void>(push(2, 0)), Error);
  auto one = push(0, 0);
  taken();
  EXPECT_THROW(static_cast<void>(channels_.push({.sender = 0, .life = 2, .number = 0})), Error)
      << "it was restarted alone";
  EXPECT_THROW(static_cast<void>(channels_.push({.sender = 0, .life = 0, .number = 1})), Error);
}

}  // namespace
}  // namespace lp::dataflow

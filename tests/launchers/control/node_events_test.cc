#include "launchers/control/node_events.h"

#include <gtest/gtest.h>

#include "launchers/control/control_generated.h"
#include "launchers/control/control_messages.h"

namespace lp::launch {
namespace {

NodeEvent sent(NodeEvent::What what) {
  const auto bytes = pack(7, 3, pack_event({.node = 5, .incarnation = 3, .what = std::move(what)}));
  const control::Message* const message = unpack(bytes);
  EXPECT_NE(message, nullptr);
  const NodeEvent event = unpack_event(*message->body_as_NodeEvent(), message->incarnation());
  EXPECT_EQ(event.node, 5U);
  EXPECT_EQ(event.incarnation, 3U);
  return event;
}

template <class What>
What sent_as(What what) {
  return std::get<What>(sent(std::move(what)).what);
}

TEST(NodeEvents, EachArrivesAsItWasSent) {
  EXPECT_EQ(sent_as(NodeEvent::Ready{"tcp://127.0.0.1:7"}).endpoint, "tcp://127.0.0.1:7");
  const auto finished =
      sent_as(NodeEvent::Finished{{{.callee = 4, .incarnation = 2}, {.callee = 6, .incarnation = 1}}});
  ASSERT_EQ(finished.answers.size(), 2U);
  EXPECT_EQ(finished.answers[0].callee, 4U);
  EXPECT_EQ(finished.answers[0].incarnation, 2U);
  EXPECT_EQ(finished.answers[1].callee, 6U);
  sent_as(NodeEvent::Alive{});
  EXPECT_EQ(sent_as(NodeEvent::StopRequested{"enough"}).reason, "enough");
  EXPECT_EQ(sent_as(NodeEvent::Saved{10}).step, 10U);
  const auto not_saved = sent_as(NodeEvent::NotSaved{20, "no space left on device"});
  EXPECT_EQ(not_saved.step, 20U);
  EXPECT_EQ(not_saved.text, "no space left on device");
  const auto busy = sent_as(NodeEvent::Busy{"push()", std::chrono::seconds(2)});
  EXPECT_EQ(busy.work, "push()");
  EXPECT_EQ(busy.age, std::chrono::seconds(2));
  const auto progress = sent_as(Progress{.step = 3, .total = 9, .values = {{"loss", 0.5}}});
  EXPECT_EQ(progress.step, 3U);
  EXPECT_EQ(progress.total, 9U);
  EXPECT_EQ(progress.values, (std::vector<std::pair<std::string, double>>{{"loss", 0.5}}));
  const auto with_more = sent_as(Progress{.histograms = {{"weights", histogram_of(std::vector<float>{1, 2, 4})}},
                                          .texts = {{"sample", "some\ntext"}}});
  ASSERT_EQ(with_more.histograms.size(), 1U);
  EXPECT_EQ(with_more.histograms[0].first, "weights");
  const ValueHistogram& weights = with_more.histograms[0].second;
  EXPECT_EQ(weights.count, 3U);
  EXPECT_EQ(weights.least, 1);
  EXPECT_EQ(weights.most, 4);
  EXPECT_EQ(weights.sum, 7);
  EXPECT_EQ(weights.squares, 21);
  EXPECT_EQ(weights.buckets, histogram_of(std::vector<float>{1, 2, 4}).buckets);
  EXPECT_EQ(with_more.texts, (std::vector<std::pair<std::string, std::string>>{{"sample", "some\ntext"}}));
}

TEST(NodeEvents, AnErrorKeepsItsKindAndOrigin) {
  const ErrorOrigin origin{.type = "std::bad_alloc",
                           .node = "server",
                           .method = "push",
                           .path = {"worker/0", "server"},
                           .may_have_run = true};
  const Error error = sent_as(NodeEvent::Failed{Error(ErrorKind::deadline, "too late", origin)}).error;
  EXPECT_EQ(error.kind(), ErrorKind::deadline);
  EXPECT_EQ(error.text(), "too late");
  EXPECT_EQ(error.origin().type, "std::bad_alloc");
  EXPECT_EQ(error.node(), "server");
  EXPECT_EQ(error.method(), "push");
  EXPECT_EQ(error.path(), origin.path);
  EXPECT_TRUE(error.may_have_run());
}

TEST(NodeEvents, AFailureForGoodArrivesAsOne) {
  const Error error(ErrorKind::failed, "no such file");
  EXPECT_TRUE(sent_as(NodeEvent::Failed{.error = error, .for_good = true}).for_good);
  EXPECT_FALSE(sent_as(NodeEvent::Failed{error}).for_good);
}

TEST(NodeEvents, AnEventOfAnUnknownKindIsRefused) {
  for (const int kind : {0, static_cast<int>(control::Event::MAX) + 1}) {
    auto bytes = pack(0, 1, pack_event({.what = NodeEvent::Alive{}}));
    const control::Message* const message = unpack(bytes);
    ASSERT_NE(message, nullptr);
    auto* const event = reinterpret_cast<flatbuffers::Table*>(const_cast<void*>(message->body()));
    ASSERT_TRUE(event->SetField(control::NodeEvent::VT_WHAT_TYPE, static_cast<std::uint8_t>(kind), std::uint8_t{0}));
    EXPECT_EQ(unpack(bytes), nullptr) << kind;
  }
}

}  // namespace
}  // namespace lp::launch

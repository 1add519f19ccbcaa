#include "launchers/control/node_start.h"

#include <gtest/gtest.h>

#include "launchers/control/control_generated.h"
#include "launchers/control/control_messages.h"

namespace lp::launch {
namespace {

TEST(NodeStart, AProcessGetsEverySetting) {
  const NodeStart sent{
      .fingerprint = 1,
      .entry = "digits",
      .configuration = "workers: 3",
      .run = {.name = "digits-1",
              .seed = 2,
              .token = "secret",
              .directory = "/runs/digits-1",
              .deadline = std::chrono::seconds(3),
              .no_deadlines = true,
              .serialize = true,
              .path = Path::shm,
              .shared_memory = 4,
              .outside_key = "outside"},
      .process = {.listen = "10.0.0.1", .keys = {.public_key = "public", .secret_key = "private"}},
      .nodes = {5, 6},
      .cut = "/runs/digits-1/cut",
      .sends_cuts = true,
      .spans = SpanOrder{.sampling = {.share = 0.5, .bounded = true}, .most = 7, .sent = Time(Duration(8))}};
  const auto bytes = pack(0, 1, pack_start(sent));
  const control::Message* const message = unpack(bytes);
  ASSERT_NE(message, nullptr);
  const NodeStart got = unpack_start(*message->body_as_Start());
  EXPECT_EQ(got.fingerprint, 1U);
  EXPECT_EQ(got.entry, "digits");
  EXPECT_EQ(got.configuration, "workers: 3");
  EXPECT_EQ(got.run.name, "digits-1");
  EXPECT_EQ(got.run.seed, 2U);
  EXPECT_EQ(got.run.token, "secret");
  EXPECT_EQ(got.run.directory, "/runs/digits-1");
  EXPECT_EQ(got.run.deadline, std::chrono::seconds(3));
  EXPECT_TRUE(got.run.no_deadlines);
  EXPECT_TRUE(got.run.serialize);
  EXPECT_EQ(got.run.path, Path::shm);
  EXPECT_EQ(got.run.shared_memory, 4U);
  EXPECT_EQ(got.run.outside_key, "outside");
  EXPECT_EQ(got.process.listen, "10.0.0.1");
  EXPECT_EQ(got.process.keys.public_key, "public");
  EXPECT_EQ(got.process.keys.secret_key, "private");
  EXPECT_EQ(got.nodes, (std::vector<NodeId>{5, 6}));
  EXPECT_EQ(got.cut, "/runs/digits-1/cut");
  EXPECT_TRUE(got.sends_cuts);
  ASSERT_TRUE(got.spans.has_value());
  EXPECT_EQ(got.spans->sampling.share, 0.5);
  EXPECT_TRUE(got.spans->sampling.bounded);
  EXPECT_EQ(got.spans->most, 7U);
  EXPECT_EQ(got.spans->sent, Time(Duration(8)));
  EXPECT_FALSE(got.spans->ends);
  EXPECT_FALSE(unpack_start(*unpack(pack(0, 1, pack_start({})))->body_as_Start()).spans.has_value());
}

}  // namespace
}  // namespace lp::launch

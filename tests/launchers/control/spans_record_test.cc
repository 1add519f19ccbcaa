// The spans of a process as text: they come back as they were, and anything else is refused.

#include "launchers/control/spans_record.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "launchers/control/base64.h"
#include "launchers/control/message_stream.h"
#include "lp/base/error.h"
#include "lp/rpc/observation/span_recorder.h"

namespace lp::launch {
namespace {

Time at(std::int64_t nanoseconds) { return Time(Duration(nanoseconds)); }

TEST(Base64, KnowsTheExamplesOfTheStandard) {
  const std::vector<std::pair<std::string, std::string>> examples = {{"", ""},
                                                                     {"f", "Zg=="},
                                                                     {"fo", "Zm8="},
                                                                     {"foo", "Zm9v"},
                                                                     {"foob", "Zm9vYg=="},
                                                                     {"fooba", "Zm9vYmE="},
                                                                     {"foobar", "Zm9vYmFy"},
                                                                     {"\xFB\xFF", "+/8="}};
  for (const auto& [plain, text] : examples) {
    const auto bytes = std::as_bytes(std::span(plain));
    EXPECT_EQ(to_base64(bytes), text);
    const std::vector<std::byte> back = from_base64(text);
    EXPECT_TRUE(std::equal(back.begin(), back.end(), bytes.begin(), bytes.end())) << plain;
  }
  for (const char* wrong : {"Z", "Zg=", "Zg===", "Zh==", "Zg=a", "=Zg=", "Zm9v====", "Zm 9", "Zm9\xC3"}) {
    EXPECT_THROW(from_base64(wrong), Error) << wrong;
  }
}

TEST(Spans, ComeBackAsTheyWere) {
  ProcessSpans spans{.clock = "a clock", .sent = at(1), .arrived = at(2)};
  spans.answered = at(3);
  spans.recorded.lost = 4;
  for (std::uint64_t i = 0; i < 10; ++i) {
    SpanRecord& one = spans.recorded.records.emplace_back();
    one.id = ~i;
    one.parent = i;
    one.chain = i << 40;
    one.begin = at(100);
    one.end = at(200);
    one.arrived = at(50);
    one.replied = at(300);
    one.node = static_cast<std::uint32_t>(i);
    one.thread = 77;
    one.kind = SpanRecord::Kind::handler;
    one.failed = i % 2 == 0;
    one.set_name(i < 5 ? "push" : "caf\xC3\xA9");
  }
  const ProcessSpans back = unpack_spans(pack_spans(spans));
  EXPECT_EQ(back.clock, "a clock");
  EXPECT_EQ(back.sent, at(1));
  EXPECT_EQ(back.arrived, at(2));
  EXPECT_EQ(back.answered, at(3));
  EXPECT_EQ(back.recorded.lost, 4U);
  ASSERT_EQ(back.recorded.records.size(), 10U);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(std::memcmp(&back.recorded.records[i], &spans.recorded.records[i], sizeof(SpanRecord)), 0) << i;
  }
}

TEST(Spans, AnAnswerFitsAMessage) {
  ProcessSpans spans;
  for (std::size_t i = 0; i < kMostSpans; ++i) {
    SpanRecord& one = spans.recorded.records.emplace_back();
    one.set_name(std::to_string(i) + std::string(SpanRecord::kLongestName, 'x'));  // each name is another one
  }
  EXPECT_LT(pack_spans(spans).size(), kSmallMessages / 8 * 7);
}

TEST(Spans, BrokenTextIsRefused) {
  ProcessSpans spans{.clock = "a clock"};
  spans.recorded.records.resize(3);
  const std::string text = pack_spans(spans);
  for (std::size_t size = 0; size < text.size() / 2; ++size) {
    EXPECT_THROW(unpack_spans(text.substr(0, size)), Error) << size;
  }
  const std::vector<std::byte> bytes = from_base64(text);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::vector<std::byte> broken = bytes;
    broken[i] ^= std::byte{0xFF};
    try {
      unpack_spans(to_base64(broken));  // whatever it holds
    } catch (const Error&) {
    }
  }
}

TEST(Spans, AnOrderIsCarriedOut) {
  SpanRecorder recorder;
  const SpanOrder order{.sampling = {.share = 1}, .most = 2, .sent = at(5)};
  EXPECT_TRUE(unpack_spans(carry_out(order, recorder)).recorded.records.empty());
  EXPECT_TRUE(recorder.samples());
  for (std::uint64_t id = 1; id <= 3; ++id) recorder.record({.id = id});
  const ProcessSpans first = unpack_spans(carry_out(order, recorder));
  EXPECT_EQ(first.sent, at(5));
  EXPECT_LE(first.arrived, first.answered);
  EXPECT_FALSE(first.clock.empty());
  EXPECT_EQ(first.recorded.records.size(), 2U);
  EXPECT_EQ(unpack_spans(carry_out(order, recorder)).recorded.records.size(), 1U);
  EXPECT_EQ(carry_out({.ends = true}, recorder), "");
  EXPECT_FALSE(recorder.on());
}

}  // namespace
}  // namespace lp::launch

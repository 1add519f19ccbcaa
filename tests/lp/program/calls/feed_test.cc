// Streams that a service fills as events happen: order, room, ends, and readers that come late, leave, or replace
// others.
#include "lp/rpc/feed.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "lp/lp.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

constexpr Duration kFeedTime = std::chrono::milliseconds(1);
constexpr Duration kTimeEnough = std::chrono::seconds(20);

class Station {
 public:
  Stream<int> watch() { return feed_->stream(); }
  void put(int item) { feed_->put(item); }
  void end() { feed_->end(); }
  void fail(std::string text) { feed_->fail(Error(ErrorKind::failed, text)); }
  void drop() { feed_.reset(); }
  int waiting() const { return static_cast<int>(feed_->size()); }
  using Remote =
      Methods<&Station::watch, &Station::put, &Station::end, &Station::fail, &Station::drop, &Station::waiting>;

 private:
  std::unique_ptr<Feed<int>> feed_ = std::make_unique<Feed<int>>();
};

// With the values in this process, and as bytes.
class Feeds : public testing::TestWithParam<bool> {
 protected:
  Feeds() : station_(program_.add<Station>({.name = "station"})), run_(program_, options()) {}
  static Runtime::Options options() {
    Runtime::Options options;
    options.run.serialize = GetParam();
    return options;
  }
  Client<Station> station() { return run_.client(station_); }
  StreamReader<int> watch() { return station().stream<&Station::watch>(); }
  void put(int begin, int end) {
    for (int i = begin; i < end; ++i) station().call<&Station::put>(i);
  }

  Program program_{"feeds"};
  Handle<Station> station_;
  LocalRun run_;
};

TEST_P(Feeds, ItemsComeInOrderWhetherTheReaderWasThereOrNot) {
  put(0, 50);  // more than there is room for on the way
  StreamReader<int> reader = watch();
  for (int i = 0; i < 50; ++i) ASSERT_EQ(reader.next(), i);
  EXPECT_FALSE(reader.wait_for(kFeedTime));
  put(50, 100);
  station().call<&Station::end>();
  for (int i = 50; i < 100; ++i) ASSERT_EQ(reader.next(), i);
  EXPECT_EQ(reader.next(), std::nullopt);
}

TEST_P(Feeds, WhoWaitsGetsWhatIsPutMeanwhile) {
  StreamReader<int> reader = watch();
  EXPECT_FALSE(reader.wait_for(kFeedTime));  // and it loses nothing
  put(7, 8);
  EXPECT_TRUE(reader.wait_for(kTimeEnough));
  EXPECT_TRUE(reader.wait_for(kTimeEnough));
  EXPECT_EQ(reader.next(), 7);
}

TEST_P(Feeds, AReaderIsCalledWhenTheNextItemIsThere) {
  StreamReader<int> reader = watch();
  const auto called = std::make_shared<Promise<void>>();
  Future<void> there = called->future();
  reader.on_ready([called] { called->set_value(); });
  EXPECT_FALSE(there.ready());
  put(7, 8);
  EXPECT_TRUE(there.wait_for(kTimeEnough));
  EXPECT_TRUE(reader.wait_for({}));
  bool at_once = false;
  reader.on_ready([&] { at_once = true; });
  EXPECT_TRUE(at_once);
  EXPECT_EQ(reader.next(), 7);
}

TEST_P(Feeds, NoMoreThanTheWindowIsOnItsWay) {
  StreamReader<int> reader = watch();
  put(0, 100);
  EXPECT_EQ(station().call<&Station::waiting>(), 100 - static_cast<int>(kStreamWindow));
  for (int i = 0; i < 100; ++i) ASSERT_EQ(reader.next(), i);
}

TEST_P(Feeds, AnErrorTakesThePlaceOfWhatWaits) {
  StreamReader<int> reader = watch();
  put(0, 1);
  EXPECT_EQ(reader.next(), 0);
  station().call<&Station::fail>("no current");
  try {
    reader.next();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.text(), "no current");
    EXPECT_EQ(error.node(), "station");
  }
}

TEST_P(Feeds, AFeedThatIsGoneEndsItsReaders) {
  StreamReader<int> waits = watch();
  EXPECT_FALSE(waits.wait_for(kFeedTime));
  station().call<&Station::drop>();
  EXPECT_THROW(waits.next(), Error);
}

TEST_P(Feeds, AFeedMayGoWhileItsReaderHasNoRoom) {
  StreamReader<int> reader = watch();
  put(0, 100);
  station().call<&Station::drop>();
  for (int i = 0; i < static_cast<int>(kStreamWindow); ++i) ASSERT_EQ(reader.next(), i);
  EXPECT_THROW(reader.next(), Error);
}

TEST_P(Feeds, AReaderThatComesLaterTakesOver) {
  StreamReader<int> first = watch();
  put(0, 1);
  EXPECT_EQ(first.next(), 0);
  StreamReader<int> second = watch();
  put(1, 2);
  EXPECT_EQ(second.next(), 1);
  EXPECT_EQ(first.next(), std::nullopt);
}

TEST_P(Feeds, AReaderMayLeaveAndAnotherCome) {
  { StreamReader<int> leaves = watch(); }
  StreamReader<int> reader = watch();
  put(3, 4);
  EXPECT_EQ(reader.next(), 3);
}

TEST_P(Feeds, NothingIsLostToAReaderThatHasLeft) {
  {
    StreamReader<int> leaves = watch();
    EXPECT_FALSE(leaves.wait_for(kFeedTime));
  }
  put(0, 2);
  EXPECT_EQ(station().call<&Station::waiting>(), 2);
  StreamReader<int> reader = watch();
  EXPECT_EQ(reader.next(), 0);
  EXPECT_EQ(reader.next(), 1);
}

INSTANTIATE_TEST_SUITE_P(Paths, Feeds, testing::Bool(), [](const auto& one) { return one.param ? "Bytes" : "Direct"; });

}  // namespace
}  // namespace lp

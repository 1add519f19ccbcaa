// Handlers of streams end with their node, whether they run or wait for their readers, and when the process of their
// reader is gone. Their frames are destroyed before the service.

#include <gtest/gtest.h>

#include <atomic>

#include "tests/lp/program/on_each_path.h"

namespace lp {
namespace {

struct Frames {
  std::atomic<int> open = 0;
  std::atomic<bool> service_ended_first = false;
  Event changed;
};

class Numbers {
 public:
  explicit Numbers(Frames* frames) : frames_(*frames) {}
  ~Numbers() {
    if (frames_.open > 0) frames_.service_ended_first = true;
  }
  Stream<int> count() {
    const Frame frame(frames_);
    for (int i = 0;; ++i) co_yield i;
  }
  using Remote = Methods<&Numbers::count>;

 private:
  class Frame {
   public:
    explicit Frame(Frames& frames) : frames_(frames) { ++frames_.open; }
    ~Frame() {
      --frames_.open;
      frames_.changed.set();
    }
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;

   private:
    Frames& frames_;
  };
  Frames& frames_;
};

class StreamEnds : public ::testing::TestWithParam<Reach> {
 protected:
  void TearDown() override {
    run_.reset();
    EXPECT_EQ(frames_.open, 0);
    EXPECT_FALSE(frames_.service_ended_first);
  }
  auto read() { return run_->client(service_).stream<&Numbers::count>(); }
  // Waits until a handler waits for its reader.
  void wait_paused() {
    const auto paused = [this] {
      for (const OpenCall& call : run_->serving().runtime().waits().calls) {
        if (call.state == OpenCall::State::paused) return true;
      }
      return false;
    };
    const Time end = after(std::chrono::seconds(20));
    while (!paused()) ASSERT_LT(now(), end);
  }
  void stop_service() {
    LocalRun& serving = run_->serving();
    serving.runtime().stop(serving.id("service"), "it is restarted");
    EXPECT_TRUE(serving.runtime().join(serving.id("service"), after(std::chrono::seconds(20))));
  }

  Frames frames_;
  Program program_{"numbers"};
  const Handle<Numbers> service_ = program_.add<Numbers>({.name = "service"}, &frames_);
  std::unique_ptr<ReachedRun> run_ = std::make_unique<ReachedRun>(program_, GetParam());
};
INSTANTIATE_TEST_SUITE_P(Paths, StreamEnds, kEachPath, reach_name);

TEST_P(StreamEnds, WithItsNodeWhileItWaitsForItsReader) {
  StreamReader<int> reader = read();
  ASSERT_EQ(reader.next(), 0);
  wait_paused();
  stop_service();
  EXPECT_EQ(frames_.open, 0);
  EXPECT_FALSE(frames_.service_ended_first);
  try {
    for (int i = 1;; ++i) ASSERT_EQ(reader.next(), i);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::disconnected) << error.what();
    EXPECT_TRUE(error.may_have_run());
  }
}

TEST_P(StreamEnds, WithItsNodeWhileItsReaderAlwaysTakes) {
  Event reads;
  const Thread takes = spawn("reader", [&] {
    const auto read_all = [&] {
      StreamReader<int> reader = read();
      for (int i = 0;; ++i) {
        EXPECT_EQ(reader.next(), i);
        reads.set();
      }
    };
    EXPECT_THROW(read_all(), Error);
  });
  ASSERT_TRUE(reads.wait(after(std::chrono::seconds(20))));
  stop_service();
}

TEST_P(StreamEnds, WithTheRunWhileItsReaderTakesNothing) {
  const StreamReader<int> reader = read();
  wait_paused();
}

TEST_P(StreamEnds, WithTheProcessOfItsReader) {
  if (&run_->calling() == &run_->serving()) return;  // one process
  const StreamReader<int> reader = read();
  wait_paused();
  run_->calling().runtime().close();
  const Time end = after(std::chrono::seconds(20));
  while (frames_.open > 0) ASSERT_TRUE(frames_.changed.wait(end));
}

}  // namespace
}  // namespace lp

// Where a pipeline's records come from and go to: files that grow, lines over TCP, streams and methods of services.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "launchers/test_run.h"
#include "lp/base/descriptor.h"
#include "lp/base/file.h"
#include "lp/rpc/feed.h"
#include "tests/programs/pipeline/pipeline_run.h"

namespace lp {
namespace {

using test::PipelineFiles;
using test::run_pipeline;
using test::write_lines;

using Lines = std::multiset<std::string>;

// A pipeline whose results are looked at while it runs.
class FollowTest : public testing::Test {
 protected:
  void start(const Pipeline& pipeline, PipelineOptions options = {}, LaunchOptions launch = {}) {
    std::filesystem::create_directories(files_.output());
    options.checkpoint_every = std::chrono::milliseconds(5);
    Program program("test");
    add_pipeline(program, pipeline, options);
    run_.emplace(std::move(program), std::move(launch));
  }
  // The lines of the files in the input, which the system alone reports.
  Flow<std::string_view> follow(const Pipeline& pipeline, int replicas = 1) const {
    return pipeline.follow({.paths = {files_.input().string()}, .until = until_, .look_every = kForever},
                           {.name = "follow", .replicas = replicas});
  }
  void wait_for(const Lines& lines) {
    for (const Time end = after(std::chrono::seconds(60)); !passed(end) && files_.lines() != lines;)
      run_->wait_for(std::chrono::milliseconds(1));
    EXPECT_EQ(files_.lines(), lines);
  }
  void end_with(const Lines& lines) {
    write_file(until_, "");
    EXPECT_TRUE(run_->wait().success) << run_->wait().cause.text();
    EXPECT_EQ(files_.lines(), lines);
  }

  const PipelineFiles files_{};
  const std::filesystem::path until_ = files_.path() / "end";
  std::optional<TestRun> run_{};
};

TEST_F(FollowTest, FilesThatGrowAreReadAsTheyAre) {
  files_.write("a", "one\ntwo\nhal");
  Pipeline pipeline;
  write_lines(follow(pipeline), files_.output());
  start(pipeline);
  wait_for({"one", "two"});
  std::ofstream(files_.input() / "a", std::ios::app) << "f\nthree\n";
  files_.write("b", "four");
  wait_for({"one", "two", "half", "three"});
  end_with({"one", "two", "half", "three", "four"});
}

TEST_F(FollowTest, ARotatedLogIsReadOnce) {
  files_.write("log", "one\ntwo\n");
  Pipeline pipeline;
  write_lines(follow(pipeline, 2), files_.output());
  start(pipeline);
  wait_for({"one", "two"});
  std::filesystem::rename(files_.input() / "log", files_.input() / "log.1");
  std::ofstream(files_.input() / "log.1", std::ios::app) << "three\n";
  files_.write("log", "new\n");
  wait_for({"one", "two", "three", "new"});
  files_.write("log", "");  // cut off, and written again
  std::ofstream(files_.input() / "log", std::ios::app) << "x\n";
  wait_for({"one", "two", "three", "new", "x"});
  std::filesystem::remove(files_.input() / "log.1");
  end_with({"one", "two", "three", "new", "x"});
}

// Lines wait in the file when it gets another name, and in that file when it gets a third one.
TEST_F(FollowTest, ALogThatIsRotatedFasterThanItIsReadIsReadOnce) {
  constexpr int kLines = 20'000;  // more than a batch
  std::filesystem::create_directories(files_.input());
  const auto log = files_.input() / "log";
  Lines expected;
  const auto fill = [&](const std::string& name) {
    std::ofstream file(log);
    for (int i = 0; i < kLines; ++i) file << name << i << '\n';
    for (int i = 0; i < kLines; ++i) expected.insert(name + std::to_string(i));
  };
  fill("first");
  Pipeline pipeline;
  write_lines(follow(pipeline, 2), files_.output());
  start(pipeline);
  for (const char* const name : {"second", "third", "fourth"}) {
    for (const auto& [from, to] :
         {std::pair("log.2", "log.3"), std::pair("log.1", "log.2"), std::pair("log", "log.1")}) {
      if (std::filesystem::exists(files_.input() / from)) {
        std::filesystem::rename(files_.input() / from, files_.input() / to);
      }
    }
    fill(name);
  }
  end_with(expected);
}

TEST_F(FollowTest, AFileThatWasCutOffAndHasGrownAgainIsReadFromItsBegin) {
  files_.write("log", "one\ntwo\n");
  Pipeline pipeline;
  write_lines(follow(pipeline), files_.output());
  start(pipeline);
  wait_for({"one", "two"});
  std::ofstream(files_.input() / "log", std::ios::trunc) << "uno\ndue\n";  // as long as before
  wait_for({"one", "two", "uno", "due"});
  std::ofstream(files_.input() / "log", std::ios::trunc) << "longer\nthan before\n";
  wait_for({"one", "two", "uno", "due", "longer", "than before"});
  std::ofstream(files_.input() / "log", std::ios::app) << "more\nlast";
  end_with({"one", "two", "uno", "due", "longer", "than before", "more", "last"});
}

TEST_F(FollowTest, AFileWithTwoNamesIsReadOnce) {
  files_.write("b", "one\n");
  std::filesystem::create_hard_link(files_.input() / "b", files_.input() / "c");
  std::filesystem::create_symlink(files_.input() / "b", files_.input() / "d");
  Pipeline pipeline;
  write_lines(follow(pipeline, 2), files_.output());
  start(pipeline);
  wait_for({"one"});
  std::filesystem::create_hard_link(files_.input() / "b", files_.input() / "a");
  std::ofstream(files_.input() / "c", std::ios::app) << "two\n";
  wait_for({"one", "two"});
  std::filesystem::remove(files_.input() / "b");
  std::ofstream(files_.input() / "a", std::ios::app) << "three\n";
  end_with({"one", "two", "three"});
}

TEST_F(FollowTest, ALineThatIsTooLongIsNamedOrLeftOut) {
  const std::string path = files_.write("log", "one\n" + std::string(500'000, 'x'));
  const auto follow_short = [&](const Pipeline& pipeline, const std::filesystem::path& into) {
    write_lines(pipeline.follow({.paths = {path}, .until = until_, .longest_line = 200'000}), into);
  };
  Pipeline pipeline;
  follow_short(pipeline, files_.path() / "failed");
  const std::string failure = run_pipeline(pipeline, {.restarts = 0});
  EXPECT_NE(failure.find("the line at byte 4 of " + path + " cannot be used: it is longer than 200000 bytes"),
            std::string::npos)
      << failure;
  Pipeline skipping;
  follow_short(skipping, files_.output());
  start(skipping, {.skip_records = 1});
  wait_for({"one"});
  std::ofstream(path, std::ios::app) << std::string(500'000, 'x') << "\ntwo\n";
  wait_for({"one", "two"});
  end_with({"one", "two"});
}

TEST_F(FollowTest, ARunThatGoesOnCountsWhatWasLeftOutBefore) {
  files_.write("log", "one\nbad\ntwo\n");
  Pipeline pipeline;
  write_lines(follow(pipeline).filter([](std::string_view line) {
    if (line == "bad") throw std::invalid_argument("no good");
    return true;
  }),
              files_.output());
  PipelineOptions options{.skip_records = 1};
  start(pipeline, options, {.directory = files_.path() / "run"});
  wait_for({"one", "two"});
  run_->stop("enough");
  run_.reset();
  PipelineResult result;
  LaunchOptions again;
  again.report = [&result](lp::Run& run) {
    result = run.client(Handle<PipelineMaster>("pipeline")).call<&PipelineMaster::result>();
  };
  options.from = files_.path() / "run";
  start(pipeline, options, std::move(again));
  end_with({"one", "two"});
  EXPECT_EQ(result.skipped, 1U);
}

TEST_F(FollowTest, AReplicaWithoutFilesHoldsNoWindowBack) {
  files_.write("log", "5\n6\n25\n");
  Pipeline pipeline;
  const auto time_of = [](EventTime time) { return time; };
  follow(pipeline, 2)
      .map([](std::string_view line) { return static_cast<EventTime>(std::stoll(std::string(line))); })
      .event_time(time_of)
      .key_by([](EventTime) { return 0; })
      .window(Windows::tumbling(std::chrono::milliseconds(10)), time_of)
      .count()
      .write(files_.output(), [](const auto& one, Output& out) { out.line(one.window.begin, ' ', one.value); });
  start(pipeline, {.idle_after = std::chrono::milliseconds(1)});
  wait_for({"0 2"});
  end_with({"0 2", "20 1"});
}

// Each replica sends its part of a sum when its own watermark passes the end.
TEST_F(FollowTest, SumsThatAreMadeBeforeTheEventsAreDividedWaitForAReplicaFromWhichNothingComes) {
  files_.write("log", "5\n6\n25\n");
  Pipeline pipeline;
  const auto time_of = [](EventTime time) { return time; };
  const auto events =
      follow(pipeline, 2)
          .map([](std::string_view line) { return static_cast<EventTime>(std::stoll(std::string(line))); })
          .event_time(time_of);
  write_lines(events.map([](EventTime time) { return std::to_string(time); }), files_.output());
  events.key_by([](EventTime) { return 0; })
      .window(Windows::tumbling(std::chrono::milliseconds(10)), time_of, {.combine = true})
      .count()
      .write(files_.path() / "counts",
             [](const auto& one, Output& out) { out.line(one.window.begin, ' ', one.value); });
  start(pipeline, {.idle_after = std::chrono::milliseconds(1)});
  wait_for({"5", "6", "25"});
  std::ofstream(files_.input() / "log", std::ios::app) << "7\n28\n";  // 7 is not too late where the sums are joined
  wait_for({"5", "6", "25", "7", "28"});
  EXPECT_FALSE(std::filesystem::exists(files_.path() / "counts"));
  end_with({"5", "6", "25", "7", "28"});
  EXPECT_EQ(files_.lines("counts"), (Lines{"0 3", "20 2"}));
}

// A client of a line listener.
class LineClient {
 public:
  LineClient() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {}
  void connect(std::uint16_t port) const {
    ::sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::connect(socket_.number(), reinterpret_cast<::sockaddr*>(&address), sizeof(address)), 0);
  }
  void send(std::string_view text) const { ASSERT_TRUE(write_all(socket_.number(), text)); }
  // Lets the connection break, instead of end, when the client is destroyed.
  void break_at_end() const {
    const ::linger now{.l_onoff = 1, .l_linger = 0};
    ASSERT_EQ(::setsockopt(socket_.number(), SOL_SOCKET, SO_LINGER, &now, sizeof(now)), 0);
  }

 private:
  const Descriptor socket_;
};

TEST(SourcesTest, LinesOverTcpComeFromTheirLog) {
  const PipelineFiles files;
  const std::filesystem::path log = files.path() / "log", end = files.path() / "end";
  Pipeline pipeline;
  write_lines(pipeline.follow({.paths = {log.string()}, .until = end}), files.output());
  Program program("test");
  const auto listener = add_line_listener(program, {.log = log, .connections = 1, .until = end});
  add_pipeline(program, pipeline, {});
  TestRun run(std::move(program));
  {
    const LineClient client;
    client.connect(run.client(listener).call<&LineListener::port>());
    client.send("one\ntw");
    client.send("o\nthree");
  }
  EXPECT_TRUE(run.wait().success);
  EXPECT_EQ(files.lines(), (Lines{"one", "three", "two"}));
  EXPECT_EQ(read_text(log / "lines", 100), "one\ntwo\nthree\n") << "the raw log may be replayed";
}

TEST(SourcesTest, AListenerTakesNoPortOfAnotherRun) {
  const Descriptor other(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ::sockaddr_in address{};
  ::socklen_t size = sizeof(address);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const any = reinterpret_cast<::sockaddr*>(&address);
  ASSERT_EQ(::bind(other.number(), any, size), 0);
  ASSERT_EQ(::listen(other.number(), 1), 0);
  ASSERT_EQ(::getsockname(other.number(), any, &size), 0);
  const PipelineFiles files;
  const std::filesystem::path log = files.path() / "log";
  std::filesystem::create_directories(log);
  write_file(log / ".port", std::to_string(ntohs(address.sin_port)) + "\n");
  Program program("test");
  const auto listener = add_line_listener(program, {.log = log});
  TestRun run(std::move(program));
  const std::uint16_t port = run.client(listener).call<&LineListener::port>();
  run.stop("enough");
  EXPECT_NE(port, ntohs(address.sin_port));
  EXPECT_EQ(read_text(log / ".port", 100), std::to_string(port) + "\n");
}

TEST(SourcesTest, HalfALineOfAConnectionThatBreaksIsNotTaken) {
  const PipelineFiles files;
  const std::filesystem::path log = files.path() / "log";
  Program program("test");
  const auto listener = add_line_listener(program, {.log = log, .connections = 1, .until = files.path() / "end"});
  TestRun run(std::move(program));
  {
    const LineClient client;
    client.connect(run.client(listener).call<&LineListener::port>());
    client.send("one\ntw");
    for (const Time end = after(std::chrono::seconds(60)); !passed(end) && read_text(log / "lines", 100).empty();)
      run.wait_for(std::chrono::milliseconds(1));
    client.break_at_end();
  }
  for (const Time end = after(std::chrono::seconds(60)); !passed(end) && !exists(files.path() / "end");)
    run.wait_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(exists(files.path() / "end"));
  EXPECT_EQ(read_text(log / "lines", 100), "one\n");
}

// While it lives, this process gets no more descriptors.
class NoDescriptors {
 public:
  NoDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const Descriptor next(::dup(0));
    const rlimit limit{.rlim_cur = static_cast<rlim_t>(next.number()), .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

Duration processor_time() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return std::chrono::seconds(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         std::chrono::microseconds(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

TEST(SourcesTest, AListenerWithoutDescriptorsRestsAndGoesOn) {
  const PipelineFiles files;
  const std::filesystem::path log = files.path() / "log";
  const LineClient one;
  Program program("test");
  const auto listener = add_line_listener(program, {.log = log, .connections = 1});
  testing::internal::CaptureStderr();
  TestRun run(std::move(program));
  const std::uint16_t port = run.client(listener).call<&LineListener::port>();
  {
    const NoDescriptors full;
    one.connect(port);
    one.send("one\n");
    const Duration before = processor_time();
    run.wait_for(std::chrono::milliseconds(300));
    EXPECT_LT(processor_time() - before, std::chrono::milliseconds(100)) << "it does not try without end";
  }
  for (const Time end = after(std::chrono::seconds(60)); !passed(end) && read_text(log / "lines", 100).empty();)
    run.wait_for(std::chrono::milliseconds(1));
  EXPECT_EQ(read_text(log / "lines", 100), "one\n");
  run.stop("enough");
  const std::string logged = testing::internal::GetCapturedStderr();
  EXPECT_NE(logged.find("no room for more clients (Too many open files)"), std::string::npos) << logged;
  EXPECT_NE(logged.find("takes clients again"), std::string::npos) << logged;
}

std::atomic<std::uint64_t> sum = 0;  // all numbers that were added

class Numbers {
 public:
  Stream<std::uint64_t> from(std::uint64_t first) {
    for (std::uint64_t i = first; i < last_; ++i) co_yield i;
  }
  void add(const std::vector<std::uint64_t>& numbers) {
    for (const std::uint64_t one : numbers) sum += one;
  }
  using Remote = Methods<&Numbers::from, once<&Numbers::add>>;

 private:
  std::uint64_t last_ = 1000;
};

TEST(SourcesTest, AServiceGivesRecordsAndTakesThem) {
  for (const bool serialize : {false, true}) {
    sum = 0;
    Program program("test");
    const auto numbers = program.add<Numbers>({.name = "numbers"});
    Pipeline pipeline;
    pipeline.subscribe<&Numbers::from>(numbers)
        .filter([](std::uint64_t one) { return one % 2 == 1; })
        .rebalance()
        .call<&Numbers::add>(numbers);
    add_pipeline(program, pipeline, {.checkpoint_every = std::chrono::milliseconds(1)});
    TestRun run(std::move(program), {.serialize = serialize});
    EXPECT_TRUE(run.wait().success) << run.wait().cause.text();
    EXPECT_EQ(sum, 250'000U);
  }
}

// A stream without an end.
class Readings {
 public:
  Stream<std::uint64_t> watch() { return feed_.stream(); }
  void put(std::uint64_t value) { feed_.put(value); }
  void end() { feed_.end(); }
  using Remote = Methods<&Readings::watch, &Readings::put, &Readings::end>;

 private:
  Feed<std::uint64_t> feed_{};
};

// How often a thread of this process has gone to sleep.
long sleeps() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return used.ru_nvcsw;
}

TEST(SourcesTest, ASubscribedPipelineSleepsUntilAValueComes) {
  for (const bool serialize : {false, true}) {
    const PipelineFiles files;
    std::atomic<std::uint64_t> seen = 0;
    Program program("test");
    const auto values = program.add<Readings>({.name = "values"});
    Pipeline pipeline;
    pipeline.subscribe<&Readings::watch>(values)
        .map([&seen](std::uint64_t value) { return seen = value; })
        .write(files.output(), [](std::uint64_t value, Output& out) { out.line(value); });
    add_pipeline(program, pipeline, {.checkpoint_every = std::chrono::hours(1)});
    TestRun run(std::move(program), {.serialize = serialize});
    for (const std::uint64_t value : {1U, 2U}) {
      run.client(values).call<&Readings::put>(value);
      for (const Time end = after(std::chrono::seconds(60)); !passed(end) && seen != value;)
        run.wait_for(std::chrono::milliseconds(1));
      EXPECT_EQ(seen, value);
      const long before = sleeps();
      run.wait_for(std::chrono::milliseconds(300));
      EXPECT_LT(sleeps() - before, 75) << "it does not look for the next value every 2 ms";
    }
    run.client(values).call<&Readings::end>();
    EXPECT_TRUE(run.wait().success) << run.wait().cause.text();
    EXPECT_EQ(files.lines(), (Lines{"1", "2"}));
  }
}

}  // namespace
}  // namespace lp

// Where a pipeline's records come from and go to: files that grow, lines over TCP, streams and methods of services.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "lp/base/descriptor.h"
#include "lp/base/file.h"
#include "tests/programs/pipeline/pipeline_run.h"

namespace lp {
namespace {

using test::PipelineFiles;
using test::run_pipeline;

using Lines = std::multiset<std::string>;

void write_lines(const Flow<std::string_view>& flow, const std::filesystem::path& into) {
  flow.write(into, [](std::string_view line, Output& out) { out.line(line); });
}

TEST(SourcesTest, FilesThatGrowAreReadAsTheyAre) {
  const PipelineFiles files;
  files.write("a", "one\ntwo\nhal");
  Pipeline pipeline;
  write_lines(pipeline.follow({.paths = {files.input().string()}, .until = files.path() / "end"}), files.output());
  Program program("test");
  add_pipeline(program, pipeline, {.checkpoint_every = std::chrono::milliseconds(5)});
  TestRun run(std::move(program));
  const auto wait_for = [&](const Lines& lines) {
    for (const Time end = after(std::chrono::seconds(60)); !passed(end) && files.lines() != lines;)
      run.wait_for(std::chrono::milliseconds(1));
    EXPECT_EQ(files.lines(), lines);
  };
  std::filesystem::create_directories(files.output());
  wait_for({"one", "two"});
  std::ofstream(files.input() / "a", std::ios::app) << "f\nthree\n";
  files.write("b", "four");
  wait_for({"one", "two", "half", "three"});
  write_file(files.path() / "end", "");
  EXPECT_TRUE(run.wait().success);
  EXPECT_EQ(files.lines(), (Lines{"one", "two", "half", "three", "four"}));
}

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
    const Descriptor socket(::socket(AF_INET, SOCK_STREAM, 0));
    ::sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(run.client(listener).call<&LineListener::port>());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::connect(socket.number(), reinterpret_cast<::sockaddr*>(&address), sizeof(address)), 0);
    ASSERT_TRUE(write_all(socket.number(), "one\ntw"));
    ASSERT_TRUE(write_all(socket.number(), "o\nthree"));
  }
  EXPECT_TRUE(run.wait().success);
  EXPECT_EQ(files.lines(), (Lines{"one", "three", "two"}));
  EXPECT_EQ(read_text(log / "lines", 100), "one\ntwo\nthree\n") << "the raw log may be replayed";
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

}  // namespace
}  // namespace lp

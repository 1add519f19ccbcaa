// Records on which functions fail, and inputs that cannot be used: how they are reported, and left out.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/error_of.h"
#include "tests/full_disk.h"
#include "tests/no_rights.h"
#include "tests/programs/pipeline/listed_events.h"
#include "tests/programs/pipeline/pipeline_run.h"

namespace lp {
namespace {

using test::give_to_all;
using test::Identity;
using test::NoRights;
using test::PipelineFiles;
using test::run_pipeline;
using test::write_lines;

using Lines = std::multiset<std::string>;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The line; fails on "bad".
std::string checked(std::string_view line) {
  if (line == "bad") throw std::invalid_argument("no good");
  return std::string(line);
}

// Two records of a line; fails on "bad" after the first one.
template <class Out>
void twice(const std::string& line, Out& out) {
  out(line + "1");
  checked(line);
  out(line + "2");
}

// What a run with a few bad records leaves.
struct BadEnd {
  std::string failure{};
  PipelineResult result{};
};
BadEnd run(const Pipeline& pipeline, PipelineOptions options) {
  BadEnd end;
  options.restarts = 0;
  LaunchOptions launch;
  launch.report = [&end](Run& one) {
    end.result = one.client(Handle<PipelineMaster>("pipeline")).call<&PipelineMaster::result>();
  };
  end.failure = run_pipeline(pipeline, options, std::move(launch));
  return end;
}

TEST(BadRecordsTest, AFailureNamesTheStageAndThePlaceInTheFile) {
  const PipelineFiles files;
  const std::string path = files.write("lines", "one\ntwo\nbad\nthree\n");
  for (const bool far : {false, true}) {
    Pipeline pipeline;
    Flow<std::string> lines = pipeline.read({.paths = {path}}, {.name = "lines"}).map([](std::string_view line) {
      return std::string(line);
    });
    if (far) lines = lines.filter([](const std::string&) { return true; });
    write_lines(lines.map(checked), files.output());
    const std::string failure = run(pipeline, {.replicas = 1}).failure;
    EXPECT_TRUE(
        contains(failure, "lines: the record at byte 8 of " + path + " cannot be used: std::invalid_argument: no good"))
        << failure;
  }
}

TEST(BadRecordsTest, AFailureOfAResultOfManyRecordsNamesTheStage) {
  const PipelineFiles files;
  const std::string path = files.write("lines", "one\ntwo\nthree\n");
  for (const bool behind : {false, true}) {
    Pipeline pipeline;
    const auto groups = pipeline.read({.paths = {path}}, {.name = "lines"})
                            .key_by([](std::string_view line) { return line.size(); }, {.name = "groups"})
                            .group<std::string>([behind](std::uint64_t, Records<std::string_view>& lines, auto& out) {
                              if (!behind) throw std::invalid_argument("no good");
                              for (const std::string_view line : lines) out(line == "two" ? "bad" : std::string(line));
                            });
    write_lines(groups.map([](const std::string& line) { return checked(line); }), files.output());
    const std::string failure = run(pipeline, {.replicas = 2}).failure;
    EXPECT_TRUE(contains(failure, ": groups: ")) << failure;
    EXPECT_TRUE(contains(failure, "std::invalid_argument: no good")) << failure;
  }
}

TEST(BadRecordsTest, AFailureNamesTheNumberOrTheRecord) {
  const PipelineFiles files;
  Pipeline numbers;
  write_lines(numbers.generate(Identity(), {.count = 5000}).map([](std::uint64_t number) {
    return checked(number == 4321 ? "bad" : "good");
  }),
              files.output());
  std::string failure = run(numbers, {.replicas = 2}).failure;
  EXPECT_TRUE(contains(failure, "generate: the record of the number 4321 cannot be used")) << failure;

  Pipeline shuffled;
  write_lines(
      shuffled.generate([](std::uint64_t number) { return std::string(number == 77 ? "bad" : "good"); }, {.count = 99})
          .rebalance({.name = "second"})
          .map(checked),
      files.output());
  failure = run(shuffled, {.replicas = 2}).failure;
  EXPECT_TRUE(contains(failure, "second: the record with the bytes \"")) << failure;
  EXPECT_TRUE(contains(failure, "bad\" cannot be used: std::invalid_argument: no good")) << failure;
}

TEST(BadRecordsTest, BadRecordsAreLeftOutWithAllThatWasMadeOfThem) {
  const PipelineFiles files;
  const std::string path = files.write("lines", "one\nbad\ntwo\nbad\n");
  Pipeline pipeline;
  write_lines(pipeline.read({.paths = {path}})
                  .map([](std::string_view line) { return std::string(line); })
                  .flat_map<std::string>([](const std::string& line, auto& out) { twice(line, out); }),
              files.output());
  const BadEnd end = run(pipeline, {.replicas = 2, .skip_records = 2});
  EXPECT_EQ(end.failure, "");
  EXPECT_EQ(end.result.skipped, 2U);
  EXPECT_EQ(files.lines(), (Lines{"one1", "one2", "two1", "two2"}));
}

TEST(BadRecordsTest, KeysTimesAndGeneratorsMayFailToo) {
  const PipelineFiles files;
  Pipeline pipeline;
  const auto fail_at = [](std::uint64_t bad) {
    return [bad](std::uint64_t number) {
      if (number == bad) throw std::out_of_range("number");
      return number;
    };
  };
  const auto time_of = [check = fail_at(2)](std::uint64_t number) { return static_cast<EventTime>(check(number)); };
  pipeline.generate(fail_at(1), {.count = 10})
      .event_time(time_of)
      .key_by(fail_at(3))
      .count()
      .map([](const auto& one) { return one.first; })
      .key_by(fail_at(4))
      .group<std::uint64_t>([](std::uint64_t key, auto&, auto& out) { out(key); })
      .write(files.output(), [](std::uint64_t number, Output& out) { out.line(number); });
  const BadEnd end = run(pipeline, {.replicas = 2, .skip_records = 4});
  EXPECT_EQ(end.failure, "");
  EXPECT_EQ(end.result.skipped, 4U);
  EXPECT_EQ(files.lines(), (Lines{"0", "5", "6", "7", "8", "9"}));
}

const std::vector<Windows>& kinds_of_windows() {
  static const std::vector<Windows> kinds = {Windows::tumbling(std::chrono::seconds(10)),
                                             Windows::sliding(std::chrono::seconds(10), std::chrono::seconds(5)),
                                             Windows::session(std::chrono::seconds(1))};
  return kinds;
}

// Events of one key, of which this one has a time for which there are no windows.
struct BadEvent {
  std::uint64_t number = 3;
  EventTime time = kNoTime;
};
void count_in(const Windows& windows, bool combine, const Pipeline& pipeline, const std::filesystem::path& into,
              BadEvent bad = {}) {
  const auto time_of = [bad](std::uint64_t number) {
    return number == bad.number ? bad.time : static_cast<EventTime>(number);
  };
  pipeline.generate(Identity(), {.count = 6})
      .event_time(time_of)
      .key_by([](std::uint64_t) { return 1; }, {.name = "windows"})
      .window(windows, time_of, {.combine = combine})
      .count()
      .write(into, [](const Windowed<int, std::uint64_t>& one, Output& out) {
        if (one.window.begin >= 0) out.line(one.value);
      });
}

TEST(BadRecordsTest, ATimeAtTheEndOfTimesIsABadRecordOfEachWindow) {
  for (const Windows& windows : kinds_of_windows()) {
    for (const bool combine : {false, true}) {
      const PipelineFiles files;
      Pipeline pipeline;
      count_in(windows, combine, pipeline, files.output());
      const BadEnd end = run(pipeline, {.replicas = 1, .skip_records = 1});
      EXPECT_EQ(end.failure, "");
      EXPECT_EQ(end.result.skipped, 1U);
      EXPECT_EQ(files.lines(), (Lines{"5"}));
    }
  }
}

// A restart, which would fail likewise, costs an hour. The last event seems to be from the future until the flow ends.
TEST(BadRecordsTest, ATimeAtTheEndOfTimesEndsTheRunAtOnceAndNamesItsRecord) {
  for (const Windows& windows : kinds_of_windows()) {
    for (const bool combine : {false, true}) {
      for (const BadEvent bad : {BadEvent{3, kNoTime}, BadEvent{5, kEndOfTime}}) {
        const PipelineFiles files;
        Pipeline pipeline;
        count_in(windows, combine, pipeline, files.output(), bad);
        const std::string failure =
            run_pipeline(pipeline, {.replicas = 1, .restarts = 3, .restart_after = std::chrono::hours(1)});
        const std::string bytes = "with the bytes \"\\u000" + std::to_string(bad.number);
        const std::string place = !combine          ? "windows: the record " + bytes
                                  : bad.number == 3 ? "generate: the record of the number 3"
                                                    : "generate: an event that waited for later ones, " + bytes;
        EXPECT_TRUE(contains(failure, place)) << failure;
        EXPECT_TRUE(contains(failure, ", of the key 1, cannot be used: an event has the time " +
                                          std::to_string(bad.time) + ", in milliseconds: windows are for"))
            << failure;
      }
    }
  }
}

TEST(BadRecordsTest, AKeyThatIsSortedByMayFail) {
  const PipelineFiles files;
  Pipeline pipeline;
  pipeline.generate(Identity(), {.count = 5})
      .sort([](std::uint64_t number) {
        if (number == 3) throw std::out_of_range("number");
        return number;
      })
      .write(files.output(), [](std::uint64_t number, Output& out) { out.line(number); });
  const BadEnd end = run(pipeline, {.skip_records = 1});
  EXPECT_EQ(end.failure, "");
  EXPECT_EQ(end.result.skipped, 1U);
  EXPECT_EQ(files.lines(), (Lines{"0", "1", "2", "4"}));
}

TEST(BadRecordsTest, ARecordThatIsLeftOutChangesNoState) {
  const PipelineFiles files;
  Pipeline pipeline;
  pipeline.generate(Identity(), {.count = 6}, {.replicas = 1})
      .key_by([](std::uint64_t) { return 0; })
      .with_state<std::uint64_t, std::uint64_t>([](int, std::uint64_t& sum, std::uint64_t number, auto& out) {
        sum += number;
        out(sum);
        if (number == 4) throw std::out_of_range("number");
      })
      .write(files.output(), [](std::uint64_t sum, Output& out) { out.line(sum); });
  const BadEnd end = run(pipeline, {.skip_records = 1});
  EXPECT_EQ(end.failure, "");
  EXPECT_EQ(end.result.skipped, 1U);
  EXPECT_EQ(files.lines(), (Lines{"0", "1", "3", "6", "11"}));
}

TEST(BadRecordsTest, OneBadRecordTooManyEndsTheRun) {
  const PipelineFiles files;
  const std::string path = files.write("lines", "bad\none\nbad\nbad\n");
  Pipeline pipeline;
  write_lines(pipeline.read({.paths = {path}}, {.name = "lines", .replicas = 1}).map(checked), files.output());
  const std::string failure = run(pipeline, {.skip_records = 2}).failure;
  EXPECT_TRUE(
      contains(failure, "there are more than 2 bad records; the last one: lines/0: the record at byte 12 of " + path))
      << failure;
}

// The lines of the input, as they are.
Pipeline copy_of(const PipelineFiles& files, InputOptions input = {}) {
  input.paths = {files.input().string()};
  Pipeline pipeline;
  write_lines(pipeline.read(std::move(input), {.name = "lines"}), files.output());
  return pipeline;
}

TEST(BadInputTest, BytesThatAreNoTextAreKept) {
  const PipelineFiles files;
  files.write("lines", "\xff\xfe one\n\x80\n");
  EXPECT_EQ(run(copy_of(files), {}).failure, "");
  EXPECT_EQ(files.lines(), (Lines{"\xff\xfe one", "\x80"}));
}

TEST(BadInputTest, EmptyFilesHaveNoRecords) {
  const PipelineFiles files;
  files.write("empty", "");
  EXPECT_EQ(run(copy_of(files), {}).failure, "");
  EXPECT_FALSE(std::filesystem::exists(files.output()));
  files.write("other", "one\n");
  EXPECT_EQ(run(copy_of(files), {}).failure, "");
  EXPECT_EQ(files.lines(), (Lines{"one"}));
}

TEST(BadInputTest, ARecordThatIsTooLongIsNamedOrLeftOut) {
  const PipelineFiles files;
  const std::string path = files.write("lines", "one\n" + std::string(3 << 20, 'x') + "\ntwo\n");
  const std::string failure = run(copy_of(files, {.longest_record = 1 << 20}), {}).failure;
  EXPECT_TRUE(contains(failure, "the record at byte 4 of " + path +
                                    " cannot be used: it is longer than 1048576 bytes: "
                                    "raise InputOptions::longest_record, or let such records be skipped"))
      << failure;
  EXPECT_TRUE(!std::filesystem::exists(files.output()) || files.lines().empty());
  const BadEnd end = run(copy_of(files, {.longest_record = 1 << 20}), {.skip_records = 1});
  EXPECT_EQ(end.failure, "");
  EXPECT_EQ(end.result.skipped, 1U);
  EXPECT_EQ(files.lines(), (Lines{"one", "two"}));
}

// A restart, which would fail likewise, costs an hour.
TEST(BadInputTest, AFieldInQuotesThatNeverEndsEndsTheRunAtOnce) {
  const PipelineFiles files;
  const std::string path = files.write("rows.csv", "name,value\na,\"1\nb,2\nc,3\n");
  const std::string failure = run_pipeline(copy_of(files, {.format = InputFormat::csv}),
                                           {.restarts = 3, .restart_after = std::chrono::hours(1)});
  EXPECT_TRUE(contains(failure, "lines: " + path + ": the quote at byte 13 begins a field that has no closing quote"))
      << failure;
}

TEST(BadInputTest, InputsThatAreNotThereOrVanishAreNamed) {
  const PipelineFiles files;
  EXPECT_TRUE(contains(run(copy_of(files), {}).failure, "no input matches " + files.input().string()));
  files.write("a", "one\n");
  const std::string path = files.write("b", "two\n");
  for (const bool shrinks : {true, false}) {
    Pipeline pipeline;
    write_lines(pipeline.read({.paths = {files.input().string()}}, {.replicas = 1}).map([&](std::string_view line) {
      if (shrinks) {
        std::filesystem::resize_file(path, 1);
      } else {
        std::filesystem::remove(path);
      }
      return std::string(line);
    }),
                files.output());
    const std::string failure = run(pipeline, {}).failure;
    EXPECT_TRUE(contains(failure, shrinks ? path + " has 1 bytes, and had 4 when it was split"
                                          : path + " cannot be read: No such file or directory"))
        << failure;
    if (shrinks) files.write("b", "two\n");
  }
}

TEST(BadInputTest, AFileThatMayNotBeReadIsNamed) {
  const PipelineFiles files;
  const std::string path = files.write("lines", "one\n");
  for (const auto& folder : {files.path(), files.input()}) give_to_all(folder);
  std::filesystem::permissions(path, std::filesystem::perms::none);
  std::string failure;
  {
    const NoRights others;
    failure = run(copy_of(files), {}).failure;
  }
  EXPECT_TRUE(contains(failure, path + " cannot be read: Permission denied")) << failure;
}

TEST(BadInputTest, ADirectoryInWhichAGlobMayNotLookIsNamed) {
  const PipelineFiles files;
  const std::filesystem::path open = files.input() / "open", closed = files.input() / "closed";
  for (const auto& folder : {files.path(), files.input(), open, closed}) {
    std::filesystem::create_directories(folder);
    give_to_all(folder);
  }
  for (const std::string name : {"open/lines", "closed/lines"}) files.write(name, "one\n");
  const auto failure_of = [&](const std::string& pattern) {
    const NoRights others;
    return test::error_of([&] { find_inputs({(files.input() / pattern).string()}); });
  };
  EXPECT_EQ(failure_of("*/lines"), "no error");
  std::filesystem::permissions(closed, std::filesystem::perms::none);
  const std::string said = "an input cannot be read: " + closed.string() + ": Permission denied";
  EXPECT_EQ(failure_of("*/lines"), said);
  EXPECT_EQ(failure_of("*/*"), said);
  EXPECT_EQ(failure_of("o*/lines"), "no error");
  give_to_all(closed);
}

TEST(BadInputTest, ADirectoryThatMayNoLongerBeWrittenIsNamed) {
  const PipelineFiles files;
  files.write("lines", "one\n");
  for (const auto& folder : {files.path(), files.input()}) give_to_all(folder);
  Pipeline pipeline;
  write_lines(pipeline.read({.paths = {files.input().string()}}, {.name = "lines"}).map([&](std::string_view line) {
    constexpr auto kReadAndEnter = static_cast<std::filesystem::perms>(0555);
    std::filesystem::permissions(files.output(), kReadAndEnter);
    return std::string(line);
  }),
              files.output());
  std::string at_the_end;
  std::string at_the_begin;
  {
    const NoRights others;
    std::filesystem::create_directories(files.output() / ".pending");
    at_the_end = run(pipeline, {.replicas = 1}).failure;
    at_the_begin = run(pipeline, {.replicas = 1}).failure;
  }
  EXPECT_TRUE(contains(at_the_end, (files.output() / "part-lines-2-000-").string())) << at_the_end;
  EXPECT_TRUE(contains(at_the_end, " cannot be written: Permission denied")) << at_the_end;
  EXPECT_TRUE(contains(at_the_begin, "cannot write into " + files.output().string() + ": Permission denied"))
      << at_the_begin;
  EXPECT_EQ(files.lines(), Lines());
  std::filesystem::permissions(files.output(), std::filesystem::perms::all);
}

// The disk is full between the end of a part and the end of its checkpoint.
TEST(BadInputTest, ADiskWithoutRoomForTheNameOfAPartLosesNoResult) {
  constexpr std::uint64_t kCount = 20'000;
  for (const int restarts : {0, 1}) {
    const PipelineFiles files;
    const std::filesystem::path pending = files.output() / ".pending";
    std::atomic<bool> full = false;
    const auto is_a_part = [](const auto& file) { return file.path().filename().string().starts_with("part-"); };
    Pipeline pipeline;
    pipeline.generate(Identity(), {.count = kCount}, {.name = "generate", .replicas = 1})
        .write(files.output(), [&](std::uint64_t number, Output& out) {
          std::error_code gone;  // while they are looked at
          const std::filesystem::directory_iterator parts(pending, gone);
          if (!full && std::any_of(begin(parts), end(parts), is_a_part)) full = test::leave_no_room_for_names();
          out.line(number);
        });
    const std::string failure = run_pipeline(pipeline,
                                             {.checkpoint_every = std::chrono::milliseconds(1),
                                              .restarts = restarts,
                                              .restart_after = std::chrono::milliseconds(1)},
                                             {.directory = files.path() / "run"});
    EXPECT_TRUE(full);
    if (restarts > 0) {
      EXPECT_EQ(failure, "");
      Lines all;
      for (std::uint64_t number = 0; number < kCount; ++number) all.insert(std::to_string(number));
      EXPECT_EQ(files.lines(), all);
    } else {
      EXPECT_TRUE(contains(failure, (files.output() / "part-generate-1-000-").string())) << failure;
      EXPECT_TRUE(contains(failure, " cannot be written: No space left on device")) << failure;
    }
  }
}

// As when they were on a host that is lost.
TEST(BadInputTest, RunsThatAreGoneAreNamed) {
  const PipelineFiles files;
  const auto scratch = files.path() / "scratch";
  std::vector<test::Event> events;
  for (EventTime time = 0; time < 2000; ++time) events.push_back({std::to_string(time), time});
  std::atomic<bool> lost = false;
  Pipeline pipeline;
  const auto texts = test::events_of(pipeline, events, {}, std::chrono::hours(24), /*wait_at=*/1000)
                         .map([&](const test::Event& event) {
                           if (event.time == 1000 && !lost.exchange(true)) {
                             std::filesystem::remove_all(scratch);
                             throw std::runtime_error("the host is lost");
                           }
                           return event.key;
                         });
  write_lines(texts.key_by([](const std::string& text) { return text; })
                  .group<std::string>([](const std::string& text, auto&, auto& out) { out(text); }),
              files.output());
  const std::string failure = run_pipeline(pipeline,
                                           {.scratch = scratch,
                                            .checkpoint_every = std::chrono::milliseconds(5),
                                            .restarts = 2,
                                            .restart_after = std::chrono::milliseconds(1)},
                                           {.directory = files.path() / "run"});
  EXPECT_TRUE(contains(failure,
                       ", which has records of this pipeline, is gone; lp cannot make it again by itself, because the "
                       "source events may not read the same again: begin the run again, with a folder that outlives "
                       "the hosts as PipelineOptions::scratch"))
      << failure;
  EXPECT_FALSE(std::filesystem::exists(files.output()));
}

TEST(BadInputTest, AFullDiskShowsNoPartOfTheResults) {
  for (const bool spills : {true, false}) {
    const PipelineFiles files;
    Pipeline pipeline;
    const auto texts = pipeline.generate([](std::uint64_t number) { return std::to_string(number * 7919 % 100'000); },
                                         {.count = 100'000});
    write_lines(spills ? texts.key_by([](const std::string& text) { return text; })
                             .group<std::string>([](const std::string& text, auto&, auto& out) { out(text); })
                       : texts,
                files.output());
    std::string failure;
    {
      const test::FullDisk full(100'000);
      failure = run(pipeline, {.scratch = files.path() / "scratch", .memory = 1 << 20}).failure;
    }
    const std::string file = spills ? files.path() / "scratch" : files.output() / ".pending" / "open-";
    EXPECT_TRUE(contains(failure, file)) << failure;
    EXPECT_TRUE(contains(failure, " cannot be written: File too large")) << failure;
    EXPECT_TRUE(!std::filesystem::exists(files.output()) || files.lines().empty());
  }
}

}  // namespace
}  // namespace lp

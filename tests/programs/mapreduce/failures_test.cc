// Failures of a map-reduce: bad records, files that vanish or fill the disk, results that are lost.

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "lp/base/error.h"
#include "lp/base/scheduler.h"
#include "programs/mapreduce/map_reduce.h"
#include "tests/full_disk.h"
#include "tests/programs/mapreduce/map_reduce_run.h"

namespace lp {
namespace {

using test::MapReduceEnd;
using test::MapReduceFiles;
using test::run_map_reduce;

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

struct ThrowsOnBad : test::CountWords {
  static void map(std::string_view line, Emit<std::string_view, std::uint64_t>& emit) {
    emit("lines", 1);
    if (line == "bad") throw std::invalid_argument("this line is bad");
    CountWords::map(line, emit);
  }
};

TEST(MapReduceFailuresTest, AMapThatThrowsFailsTheJobAndNamesTheRecord) {
  MapReduceFiles files;
  const std::string path = files.write("lines", "one two\nbad\nthree\n");
  const MapReduceEnd end = run_map_reduce(ThrowsOnBad(), files.options());
  EXPECT_TRUE(has(end.failure, "a task failed twice in worker/")) << end.failure;
  EXPECT_TRUE(has(end.failure, "map failed on the record at byte 8 of " + path +
                                   " (\"bad\"): std::invalid_argument: this line is bad"))
      << end.failure;
  EXPECT_FALSE(std::filesystem::exists(files.output()));
  EXPECT_TRUE(files.clean());
}

TEST(MapReduceFailuresTest, BadRecordsAreSkippedAsIfTheyWereNotThere) {
  MapReduceFiles files;
  files.write("lines", "bad\none two\nbad\nthree\nbad\n");
  MapReduce options = files.options();
  options.job.skip_records = 3;
  const MapReduceEnd end = run_map_reduce(ThrowsOnBad(), options);
  ASSERT_EQ(end.failure, "");
  EXPECT_EQ(end.result.counters.skipped, 3U);
  EXPECT_EQ(end.result.failures, 1U) << "one attempt finds all bad records of its task";
  EXPECT_EQ(test::table_of(files.result()),
            (std::map<std::string, std::uint64_t>{{"lines", 2}, {"one", 1}, {"two", 1}, {"three", 1}}));
}

struct SortsAllButBad : test::SortLines {
  static void map(std::string_view line, Emit<std::string_view, Nothing>& emit) {
    if (line == "bad") throw std::invalid_argument("this line is bad");
    emit(line, {});
  }
};

TEST(MapReduceFailuresTest, ABadRecordInTheSampleCountsOnce) {
  MapReduceFiles files;
  files.write("lines", "b\nbad\na\nbad\nc\n");
  MapReduce options = files.options();
  options.job.partitioning = Partitioning::range;
  options.job.skip_records = 2;
  const MapReduceEnd end = run_map_reduce(SortsAllButBad(), options);
  ASSERT_EQ(end.failure, "");
  EXPECT_EQ(files.result(), "a\nb\nc\n");
  EXPECT_EQ(end.result.counters.skipped, 2U);
}

TEST(MapReduceFailuresTest, OneBadRecordMoreFailsTheJob) {
  MapReduceFiles files;
  files.write("lines", "bad\nbad\nbad\n");
  MapReduce options = files.options();
  options.job.skip_records = 2;
  const MapReduceEnd end = run_map_reduce(ThrowsOnBad(), options);
  EXPECT_TRUE(has(end.failure, "more than 2 bad records; the last one: map failed on the record at byte 8"))
      << end.failure;
}

struct ReduceThrows : test::CountWords {
  static void reduce(std::string_view word, Values<std::uint64_t>& counts, Output& out) {
    out.write(word);
    if (word == "bad") throw std::runtime_error("no such word");
    std::uint64_t sum = 0;
    for (const std::uint64_t one : counts) sum += one;
    out.line('\t', sum);
  }
};

TEST(MapReduceFailuresTest, AReduceThatThrowsNamesTheKeyAndMaySkipIt) {
  MapReduceFiles files;
  files.write("lines", "a b bad c a");
  MapReduce options = files.options();
  options.job.partitions = 1;
  const std::string failure = run_map_reduce(ReduceThrows(), options).failure;
  EXPECT_TRUE(has(failure, "a task failed twice in worker/")) << failure;
  EXPECT_TRUE(has(failure, "reduce failed on the key \"bad\": std::runtime_error: no such word")) << failure;
  options.job.skip_records = 1;
  const MapReduceEnd end = run_map_reduce(ReduceThrows(), options);
  ASSERT_EQ(end.failure, "");
  EXPECT_EQ(files.result(), "a\t2\nb\t1\nc\t1\n");
  EXPECT_EQ(end.result.counters.skipped, 1U);
}

struct Columns {
  static void map(const CsvRow& row, Emit<std::string_view, double>& emit) { emit(row[0], row.number(1)); }
  static void combine(double& sum, double one) { sum += one; }
};

TEST(MapReduceFailuresTest, ARowWithAnotherNumberOfColumnsIsABadRecord) {
  MapReduceFiles files;
  files.write("rows.csv", "name,value\na,1\nb,2,3\na,\"2\"\nc\nb,x\n");
  MapReduce options = files.options();
  options.job.input.format = InputFormat::csv;
  EXPECT_TRUE(
      has(run_map_reduce(Columns(), options).failure, "the row has 3 columns, and the first row of its file has 2"));
  options.job.skip_records = 10;
  const MapReduceEnd end = run_map_reduce(Columns(), options);
  ASSERT_EQ(end.failure, "");
  EXPECT_EQ(files.result(), "a\t3\n");
  EXPECT_EQ(end.result.counters.skipped, 3U);
}

TEST(MapReduceFailuresTest, AQuoteInsideAFieldSpoilsItsOwnRowAlone) {
  MapReduceFiles files;
  files.write("rows.csv", "name,value\na,1\n3.5\" floppy,1\na,2\n");
  MapReduce options = files.options();
  options.job.input.format = InputFormat::csv;
  const std::string failure = run_map_reduce(Columns(), options).failure;
  EXPECT_TRUE(has(failure, "byte 15")) << failure;
  EXPECT_TRUE(has(failure, "a quote stands inside the field")) << failure;
  options.job.skip_records = 1;
  const MapReduceEnd end = run_map_reduce(Columns(), options);
  ASSERT_EQ(end.failure, "");
  EXPECT_EQ(files.result(), "a\t3\n");
  EXPECT_EQ(end.result.counters.skipped, 1U);
}

TEST(MapReduceFailuresTest, AFieldInQuotesThatNeverEndsIsNoRecordToSkip) {
  MapReduceFiles files;
  files.write("rows.csv", "name,value\na,\"1\nb,2\nc,3\n");
  MapReduce options = files.options();
  options.job.input.format = InputFormat::csv;
  options.job.skip_records = 10;
  const std::string failure = run_map_reduce(Columns(), options).failure;
  EXPECT_TRUE(has(failure, "the quote at byte 13 begins a field that has no closing quote")) << failure;
  EXPECT_TRUE(has(failure, "a task failed in worker/")) << "once, as all attempts would: " << failure;
}

TEST(MapReduceFailuresTest, AHugeRecordIsReadOrRefusedOrSkipped) {
  MapReduceFiles files;
  files.write("lines", "one\n" + std::string(std::size_t{3} << 20, 'x') + "\none\n");
  MapReduce options = files.options();
  ASSERT_EQ(run_map_reduce(test::CountWords(), options).failure, "");
  EXPECT_EQ(test::table_of(files.result()).at(std::string(std::size_t{3} << 20, 'x')), 1U);
  std::filesystem::remove_all(files.output());
  options.job.input.longest_record = 1 << 20;
  EXPECT_TRUE(has(run_map_reduce(test::CountWords(), options).failure, "longer than 1048576 bytes"));
  options.job.skip_records = 1;
  const MapReduceEnd end = run_map_reduce(test::CountWords(), options);
  ASSERT_EQ(end.failure, "");
  EXPECT_EQ(files.result(), "one\t2\n");
  EXPECT_EQ(end.result.counters.skipped, 1U);
}

struct RemovesItsInput : test::CountWords {
  void map(std::string_view line, Emit<std::string_view, std::uint64_t>& emit) const {
    CountWords::map(line, emit);
    std::filesystem::remove(file);
  }
  std::string file{};
};

TEST(MapReduceFailuresTest, AnInputThatVanishesIsNamed) {
  MapReduceFiles files;
  files.write("a", "one\n");
  const std::string gone = files.write("b", "two\n");
  MapReduce options = files.options();
  options.workers = 1;
  options.job.input.split_bytes = 1;
  const MapReduceEnd end = run_map_reduce(RemovesItsInput{{}, gone}, options);
  EXPECT_TRUE(has(end.failure, gone + " cannot be read: No such file")) << end.failure;
  EXPECT_FALSE(std::filesystem::exists(files.output()));
}

TEST(MapReduceFailuresTest, AnInputThatCannotBeReadIsNamed) {
  MapReduceFiles files;
  files.write("lines", "one\n");
  MapReduce options = files.options();
  const std::string dangling = (files.path() / "dangling").string();
  std::filesystem::create_symlink("nothing", dangling);
  options.job.input.paths.push_back(dangling);
  EXPECT_TRUE(has(run_map_reduce(test::CountWords(), options).failure, dangling + " cannot be read: No such file"));
  const std::string lost = (files.input() / "lost").string();
  std::filesystem::create_symlink("nothing", lost);
  EXPECT_TRUE(has(run_map_reduce(test::CountWords(), files.options()).failure, lost + " cannot be read: No such file"));
}

TEST(MapReduceFailuresTest, AnOutputThatExistsIsRefusedAndStaysAsItIs) {
  MapReduceFiles files;
  files.write("lines", "one\n");
  std::filesystem::create_directories(files.output());
  std::ofstream(files.output() / "mine") << "precious";
  const MapReduceEnd end = run_map_reduce(test::CountWords(), files.options());
  EXPECT_TRUE(has(end.failure, "the output " + files.output().string() + " exists")) << end.failure;
  EXPECT_EQ(files.result(), "precious");
}

// The error with which a job ends whose nodes are this incarnation of this run; they were started without a cut.
std::string failure_of(const MapReduce& options, const std::string& run_name, std::uint32_t incarnation) {
  Program program("test");
  add_map_reduce(program, test::CountWords(), options);
  Runtime::Options runtime;
  runtime.run.name = run_name;
  LocalRun run(program, std::move(runtime), incarnation);
  run.wait_finished();
  for (const auto& [node, error] : run.failed()) return error.what();
  return {};
}

TEST(MapReduceFailuresTest, AMasterThatWasKilledBeforeACutToldOfItsOutputMakesTheSameAgain) {
  MapReduceFiles files;
  files.write("lines", "one two\ntwo\n");
  ASSERT_EQ(failure_of(files.options(), "first", 1), "");
  const std::string result = files.result();
  EXPECT_EQ(failure_of(files.options(), "first", 2), "");
  EXPECT_EQ(files.result(), result);
  EXPECT_TRUE(files.clean());
  files.write("lines", "three\n");
  EXPECT_TRUE(has(failure_of(files.options(), "second", 2), "exists"));  // the output of another run
  EXPECT_TRUE(has(failure_of(files.options(), "first", 1), "exists"));
  EXPECT_EQ(files.result(), result);
}

struct WaitsInMap : test::CountWords {
  void map(std::string_view line, Emit<std::string_view, std::uint64_t>& emit) const {
    CountWords::map(line, emit);
    begun->set();
    go_on->wait(after(std::chrono::seconds(20)));
  }
  Event* begun = nullptr;
  Event* go_on = nullptr;
};

TEST(MapReduceFailuresTest, OfTwoRunsWithOneOutputTheSecondIsRefused) {
  MapReduceFiles files;
  files.write("lines", "one two\n");
  Event begun;
  Event go_on;
  Program program("test");
  add_map_reduce(program, WaitsInMap{{}, &begun, &go_on}, files.options());
  Runtime::Options runtime;
  runtime.run.name = "first";
  LocalRun first(program, std::move(runtime));
  EXPECT_TRUE(begun.wait(after(std::chrono::seconds(20))));
  const std::string failure = failure_of(files.options(), "second", 1);
  EXPECT_TRUE(has(failure, "output.partial belongs to the run first, which has not ended: ")) << failure;
  go_on.set();
  first.wait_finished();
  EXPECT_TRUE(first.failed().empty());
  EXPECT_EQ(test::table_of(files.result()), (std::map<std::string, std::uint64_t>{{"one", 1}, {"two", 1}}));
  EXPECT_TRUE(files.clean());
}

TEST(MapReduceFailuresTest, TheRestOfADeadRunIsTakenOver) {
  MapReduceFiles files;
  files.write("lines", "one two\n");
  const std::filesystem::path partial = files.options().job.partial();
  std::filesystem::create_directories(partial / "parts");
  std::ofstream(partial / ".run") << "dead";
  std::ofstream(partial / "parts" / "part-00007") << "of the dead";
  EXPECT_EQ(failure_of(files.options(), "second", 1), "");
  EXPECT_EQ(test::table_of(files.result()), (std::map<std::string, std::uint64_t>{{"one", 1}, {"two", 1}}));
  EXPECT_TRUE(files.clean());
}

TEST(MapReduceFailuresTest, RunsInADirectoryOfTheUserAreRemovedAtTheEnd) {
  MapReduceFiles files;
  files.write("lines", "one two\ntwo\n");
  MapReduce options = files.options();
  options.job.scratch = files.path() / "scratch";
  ASSERT_EQ(run_map_reduce(test::CountWords(), options).failure, "");
  EXPECT_TRUE(std::filesystem::is_empty(options.job.scratch));
}

TEST(MapReduceFailuresTest, ADiskThatFillsInASpillFailsTheJobAndLeavesNothing) {
  MapReduceFiles files;
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i) + "\n";
  files.write("lines", text);
  MapReduceEnd end;
  {
    const test::FullDisk full(100'000);
    MapReduce options = files.options();
    options.job.skip_records = 1000;
    end = run_map_reduce(test::SortLines(), options);
  }
  EXPECT_TRUE(has(end.failure, "cannot be written: File too large")) << end.failure;
  EXPECT_FALSE(has(end.failure, "record")) << "no record is at fault: " << end.failure;
  EXPECT_FALSE(std::filesystem::exists(files.output()));
  EXPECT_TRUE(files.clean());
}

struct Repeats {  // its output is larger than its runs
  static void map(std::string_view line, Emit<std::string_view, Nothing>& emit) { emit(line, {}); }
  static void reduce(std::string_view line, Values<Nothing>&, Output& out) {
    for (int i = 0; i < 100; ++i) out.line(line);
  }
};

TEST(MapReduceFailuresTest, ADiskThatFillsAtTheCommitFailsTheJobAndLeavesNothing) {
  MapReduceFiles files;
  std::string text;
  for (int i = 0; i < 5000; ++i) text += std::to_string(i) + "\n";
  files.write("lines", text);
  MapReduceEnd end;
  {
    const test::FullDisk full(100'000);
    end = run_map_reduce(Repeats(), files.options());
  }
  EXPECT_TRUE(has(end.failure, "attempts/reduce-")) << end.failure;
  EXPECT_TRUE(has(end.failure, "cannot be written: File too large")) << end.failure;
  EXPECT_FALSE(std::filesystem::exists(files.output()));
  EXPECT_TRUE(files.clean());
}

TEST(MapReduceFailuresTest, ADiskWithoutRoomForTheNameOfAPartFailsTheJobAndLeavesNothing) {
  MapReduceFiles files;
  files.write("lines", "one two\ntwo\n");
  MapReduceEnd end;
  spawn("full", [&] {
    if (test::leave_no_room_for_names()) end = run_map_reduce(test::CountWords(), files.options());
  }).join();
  EXPECT_TRUE(has(end.failure, "parts/part-0000")) << end.failure;
  EXPECT_TRUE(has(end.failure, "cannot be written: No space left on device")) << end.failure;
  EXPECT_FALSE(std::filesystem::exists(files.output()));
  EXPECT_TRUE(files.clean());
}

struct Slow {  // the first attempt on this record goes on when another has begun
  void wait() {
    if (attempts.fetch_add(1) == 0) {
      another.wait(after(std::chrono::seconds(15)));
    } else {
      another.set();
    }
  }
  std::atomic<int> attempts{0};
  Event another{};
};

struct HasASlowRecord : test::CountWords {
  void map(std::string_view line, Emit<std::string_view, std::uint64_t>& emit) const {
    CountWords::map(line, emit);
    if (line == "slow") {
      slow->wait();
    } else {  // the master waits for news already when the first task is done
      Event never;
      never.wait(after(std::chrono::milliseconds(50)));
    }
  }
  Slow* slow = nullptr;
};

TEST(MapReduceFailuresTest, ALateTaskIsGivenToAnIdleWorkerToo) {
  MapReduceFiles files;
  files.write("a", "slow\n");
  for (int i = 0; i < 5; ++i) files.write("b" + std::to_string(i), "fast\n");
  MapReduce options = files.options();
  options.job.input.split_bytes = 1;
  Slow slow;
  const MapReduceEnd end = run_map_reduce(HasASlowRecord{{}, &slow}, options);
  ASSERT_EQ(end.failure, "");
  EXPECT_EQ(slow.attempts, 2);
  EXPECT_GE(end.result.backups, 1U);
  EXPECT_LT(end.result.seconds, 15);
  EXPECT_EQ(test::table_of(files.result()), (std::map<std::string, std::uint64_t>{{"slow", 1}, {"fast", 5}}));
}

struct SortsASlowRecord : test::SortLines {
  void map(std::string_view line, Emit<std::string_view, Nothing>& emit) const {
    emit(line, {});
    if (line == "slow") slow->wait();
  }
  Slow* slow = nullptr;
};

TEST(MapReduceFailuresTest, ALateSampleIsGivenToAnIdleWorkerToo) {
  MapReduceFiles files;
  std::string text = "slow\n";
  for (int i = 100'000; i < 500'000; ++i) text += std::to_string(i) + "\n";  // so much that there are several samples
  files.write("lines", text);
  MapReduce options = files.options();
  options.job.partitioning = Partitioning::range;
  Slow slow;
  const MapReduceEnd end = run_map_reduce(SortsASlowRecord{{}, &slow}, options);
  ASSERT_EQ(end.failure, "");
  EXPECT_GE(end.result.backups, 1U);
  EXPECT_LT(end.result.seconds, 15);
  EXPECT_TRUE(files.result() == text.substr(5) + "slow\n");
}

std::atomic<int> reduced;

struct RemovesRuns : test::CountWords {
  void reduce(std::string_view word, Values<std::uint64_t>& counts, Output& out) const {
    if (reduced.fetch_add(1) == 0) std::filesystem::remove_all(runs);
    std::uint64_t sum = 0;
    for (const std::uint64_t one : counts) sum += one;
    out.line(word, '\t', sum);
  }
  std::string runs{};
};

TEST(MapReduceFailuresTest, LostRunsAreMadeAgain) {
  MapReduceFiles files;
  std::string text;
  for (int i = 0; i < 1000; ++i) text += std::to_string(i % 300) + "\n";
  files.write("lines", text);
  MapReduce options = files.options();
  options.workers = 1;
  options.job.input.split_bytes = 1000;
  reduced = 0;
  const MapReduceEnd end = run_map_reduce(RemovesRuns{{}, files.output().string() + ".partial/runs"}, options);
  ASSERT_EQ(end.failure, "");
  EXPECT_EQ(test::table_of(files.result()), test::counts_of(text));
  EXPECT_EQ(end.result.lost_outputs, end.result.map_tasks);
  EXPECT_EQ(end.result.failures, 0U);
}

TEST(MapReduceFailuresTest, ARunOnAnotherHostIsReadByCalls) {
  MapReduceFiles files;
  files.write("lines", "one\n");
  MapReduce options = files.options();
  std::filesystem::create_directories(options.job.run_files());
  dataflow::RunWriter writer((options.job.run_files() / "far").string(), 1);
  const std::string large(std::size_t{3} << 20, 'v');
  for (const char* const key : {"a", "b", "c"}) writer.add(0, {key, large});
  const dataflow::SortedRun run = writer.finish();
  Program program("test");
  add_map_reduce(program, test::CountWords(), options);
  Runtime::Options runtime;
  runtime.run.serialize = true;
  LocalRun local(program, std::move(runtime), LocalRun::kNothingHere);
  local.start_one("master", 1);
  local.start_one("worker/0", 1, 1);
  local.start_one("worker/1", 1, 2);
  const auto worker = local.client(program.handle<MapReduceWorker>("worker/1"));
  const dataflow::ReduceInput input{.map_task = 7, .worker = 1, .path = run.path, .segment = run.segments[0]};
  dataflow::RunReader reader(remote_segment(worker, input), run.segments[0].bytes, 1 << 16);
  std::string keys;
  for (dataflow::Pair pair; reader.next(pair); keys += pair.key) EXPECT_TRUE(pair.value == large);
  EXPECT_EQ(keys, "abc");
  std::filesystem::remove(run.path);
  dataflow::RunReader again(remote_segment(worker, input), run.segments[0].bytes, 1 << 16);
  dataflow::Pair pair;
  EXPECT_THROW(again.next(pair), dataflow::LostRunError);
  const std::string file = files.write("large", large + "the end");
  const auto source = dataflow::remote_input(worker, file);
  EXPECT_EQ(source->size(), large.size() + 7);
  std::string all(large.size() + 100, ' ');
  EXPECT_EQ(source->read_at(0, all), large.size() + 7);
  EXPECT_TRUE(all.starts_with(large + "the end "));
  EXPECT_EQ(source->read_at(large.size() + 4, all), 3U);
  EXPECT_THROW(dataflow::remote_input(worker, run.path), Error);
  const std::string outside = files.write("../secret", "secret");
  EXPECT_THROW(worker.call<&MapReduceWorker::read_run>(outside, 0, 6), Error);
  EXPECT_EQ(worker.call<&MapReduceWorker::missing_runs>(std::vector{outside}).size(), 1U);
  EXPECT_THROW(dataflow::remote_input(worker, outside), Error);
  EXPECT_THROW(worker.call<&MapReduceWorker::read_run>((options.job.run_files() / ".." / "secret").string(), 0, 6),
               Error);
}

}  // namespace
}  // namespace lp

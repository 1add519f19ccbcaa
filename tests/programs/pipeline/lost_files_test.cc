// Sorted runs on disk: those that are lost are made again, and none is left behind.

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tests/programs/pipeline/listed_events.h"
#include "tests/programs/pipeline/pipeline_run.h"

namespace lp {
namespace {

using std::chrono::milliseconds;
using test::Event;
using test::PipelineFiles;
using test::run_pipeline;
using test::write_lines;
using Lines = std::multiset<std::string>;

constexpr EventTime kEvents = 2000;
constexpr EventTime kWait = 1000;  // until a checkpoint is complete

// A source whose events can be read again.
class Again final : public dataflow::Operator, public dataflow::StageSource, public dataflow::Producer<Event> {
 public:
  Step step() override {
    if (next_ == kEvents) return Step::over;
    if (next_ == kWait && !saved_) return Step::idle;
    const Event event{.key = std::to_string(next_ % 500), .time = next_};
    ++next_;
    emit({&event, 1});
    return Step::read;
  }
  void mark(const dataflow::Mark& mark) override { emit_mark(mark); }
  bool repeats() const override { return true; }
  void cut(std::uint64_t number) override {
    if (next_ == kWait && cut_ == 0) cut_ = number;
  }
  void commit(std::uint64_t number) override { saved_ = saved_ || (cut_ > 0 && number >= cut_); }
  void save(dataflow::OperatorState& out) const override {
    dataflow::RecordWriter bytes;
    bytes.number(next_);
    out.push_back({.bytes = bytes.take(0)});
  }
  void load(const dataflow::StatePiece& piece) override {
    next_ = dataflow::RecordBytes(piece.bytes).number<EventTime>();
    saved_ = next_ >= kWait;
  }

 private:
  EventTime next_ = 0;
  std::uint64_t cut_ = 0;
  bool saved_ = false;
};

// The texts of the events. At one of them, once, disturb() is called, after a checkpoint has those before it.
Flow<std::string> texts_of(const Pipeline& pipeline, std::function<void()> disturb) {
  return pipeline
      .source<Event>({.name = "events", .replicas = 1}, [](dataflow::StageSite&) { return std::make_unique<Again>(); })
      .map([disturb = std::move(disturb), done = std::make_shared<std::atomic<bool>>(false)](const Event& event) {
        if (event.time == kWait && !done->exchange(true)) disturb();
        return event.key;
      });
}

Lines expected() {
  Lines out;
  for (int key = 0; key < 500; ++key) out.insert(std::to_string(key) + " 4");
  return out;
}

std::size_t files_in(const std::filesystem::path& folder) {
  std::error_code missing;
  std::size_t count = 0;
  for (const auto& one : std::filesystem::recursive_directory_iterator(folder, missing)) count += one.path() != folder;
  return count;
}

PipelineOptions options_for(const PipelineFiles& files, int restarts = 2) {
  return {.scratch = files.path() / "scratch",
          .checkpoint_every = milliseconds(5),
          .restarts = restarts,
          .restart_after = milliseconds(1)};
}

// Makes the lines "key times" of the texts, with runs in the scratch directory.
using MakeLines = std::function<Flow<std::string>(const Flow<std::string>& texts)>;

std::string line_of(const std::string& key, std::size_t times) { return key + " " + std::to_string(times); }
std::string self(const std::string& text) { return text; }

template <class Records, class Out>
void count_records(const std::string& key, Records& records, Out& out) {
  std::size_t times = 0;
  for ([[maybe_unused]] const auto& one : records) ++times;
  out(line_of(key, times));
}

Flow<std::string> by_group(const Flow<std::string>& texts) {
  return texts.key_by(self).group<std::string>(
      [](const std::string& key, auto& records, auto& out) { count_records(key, records, out); });
}
Flow<std::string> by_cache(const Flow<std::string>& texts) {
  return texts.key_by(self).cache().group<std::string>(
      [](const std::string& key, const auto& records, auto& out) { count_records(key, records, out); });
}
Flow<std::string> by_sort(const Flow<std::string>& texts) { return by_group(texts.sort(self)); }

TEST(LostFilesTest, AreMadeAgain) {
  for (const MakeLines& lines : {MakeLines(by_group), MakeLines(by_cache), MakeLines(by_sort)}) {
    const PipelineFiles files;
    std::size_t lost = 0;
    Pipeline pipeline;
    const auto texts = texts_of(pipeline, [&] {
      lost = files_in(files.path() / "scratch");
      std::filesystem::remove_all(files.path() / "scratch");
      throw std::runtime_error("the host is lost");
    });
    write_lines(lines(texts), files.output());
    testing::internal::CaptureStderr();
    const std::string failure = run_pipeline(pipeline, options_for(files), {.directory = files.path() / "run"});
    const std::string shown = testing::internal::GetCapturedStderr();
    ASSERT_EQ(failure, "");
    EXPECT_NE(shown.find(", which has records of this pipeline, is gone, so all stages begin from the beginning and "
                         "make it again\n"),
              shown.npos)
        << shown;
    EXPECT_EQ(shown.find("begin the run again"), shown.npos) << shown;
    EXPECT_GT(lost, 1U);
    EXPECT_EQ(files.lines(), expected());
    EXPECT_EQ(files_in(files.path() / "scratch"), 0U);
  }
}

TEST(LostFilesTest, AreNamedWhereResultsAreVisible) {
  const PipelineFiles files;
  Pipeline pipeline;
  const auto texts = texts_of(pipeline, [&] {
    std::filesystem::remove_all(files.path() / "scratch");
    throw std::runtime_error("the host is lost");
  });
  write_lines(texts, files.path() / "texts");
  write_lines(by_group(texts), files.output());
  const std::string failure = run_pipeline(pipeline, options_for(files), {.directory = files.path() / "run"});
  EXPECT_NE(failure.find((files.path() / "scratch").string()), failure.npos) << failure;
  EXPECT_NE(failure.find("lp cannot make it again by itself, because the stage events has made results"), failure.npos)
      << failure;
  EXPECT_NE(failure.find(": begin the run again, with a folder that outlives the hosts as PipelineOptions::scratch"),
            failure.npos)
      << failure;
  EXPECT_FALSE(std::filesystem::exists(files.output()));
}

TEST(LostFilesTest, AFailedRunLeavesNone) {
  const PipelineFiles files;
  std::size_t there = 0;
  Pipeline pipeline;
  const auto texts = texts_of(pipeline, [&] {
    there = files_in(files.path() / "scratch");
    throw std::runtime_error("no more");
  });
  write_lines(by_group(texts), files.output());
  const std::string failure =
      run_pipeline(pipeline, options_for(files, /*restarts=*/0), {.directory = files.path() / "run"});
  EXPECT_NE(failure.find("no more"), failure.npos) << failure;
  EXPECT_GT(there, 1U);
  EXPECT_EQ(files_in(files.path() / "scratch"), 0U);
  EXPECT_FALSE(std::filesystem::exists(files.path() / "run" / "scratch"));
}

TEST(LostFilesTest, AFailedRunWithoutADirectoryLeavesNone) {
  const PipelineFiles files;
  std::atomic<std::size_t> there = 0;
  Pipeline pipeline;
  const auto texts = pipeline.generate([](std::uint64_t number) { return std::to_string(number * 7919 % 100'000); },
                                       {.count = 100'000});
  write_lines(texts.key_by(self).group<std::string>([&](const std::string&, auto&, auto& out) {
    there = files_in(files.path() / "scratch");
    out(std::string());
    throw std::runtime_error("no more");
  }),
              files.output());
  PipelineOptions options = options_for(files, /*restarts=*/0);
  options.memory = std::uint64_t{1} << 20;
  const std::string failure = run_pipeline(pipeline, options);
  EXPECT_NE(failure.find("no more"), failure.npos) << failure;
  EXPECT_GT(there, 1U);
  EXPECT_EQ(files_in(files.path() / "scratch"), 0U);
}

TEST(LostFilesTest, AStoppedRunLeavesNone) {
  const PipelineFiles files;
  lp::Event there;
  Pipeline pipeline;
  write_lines(by_group(texts_of(pipeline, [&] { there.set(); })), files.output());
  Program program("test");
  add_pipeline(program, pipeline, options_for(files));
  lp::Run run(std::move(program), {.directory = files.path() / "run"});
  there.wait(kNever);
  run.stop("enough");
  run.wait();
  EXPECT_EQ(files_in(files.path() / "scratch"), 0U);
}

using EndedProcessDeathTest = ::testing::Test;

// exit() runs no handler of a signal.
TEST(EndedProcessDeathTest, SaysInWhichStageAndWhereInTheInput) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  constexpr const char* kInput = "LP_TEST_INPUT";  // the process that ends takes the files of the first one
  std::optional<PipelineFiles> files;
  if (std::getenv(kInput) == nullptr) {
    files.emplace();
    ::setenv(kInput, files->write("input", "one\ntwo\nthree\nfour\n").c_str(), 1);
  }
  const std::string input = std::getenv(kInput);
  for (const bool skips : {false, true}) {
    const auto run = [&] {
      Pipeline pipeline;
      write_lines(pipeline.read({.paths = {input}}).map([](std::string_view line) {
        if (line == "three") std::exit(7);
        return std::string(line);
      }),
                  input + "-lines");
      run_pipeline(pipeline, {.replicas = 1, .skip_records = skips ? 1U : 0U});
    };
    const std::string place =
        skips ? "on the record at byte 8 of .*input" : "on a record that begins at one of the bytes 0 to 14 of .*input";
    EXPECT_EXIT(run(), ::testing::ExitedWithCode(7), "lp: in the stage read, node read/0, " + place);
  }
  ::unsetenv(kInput);
}

}  // namespace
}  // namespace lp

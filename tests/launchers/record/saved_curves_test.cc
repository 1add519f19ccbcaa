// Event files that are read back: as they were written, with restarts, cut, damaged, and of many nodes.
#include "launchers/record/saved_curves.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "launchers/record/curve_copy.h"
#include "launchers/record/curves.h"
#include "launchers/record/event_reader.h"
#include "launchers/record/event_records.h"
#include "launchers/record/hyperparameters.h"
#include "lp/base/file.h"
#include "lp/program/progress.h"
#include "tests/directory.h"
#include "tests/launchers/record/event_records.h"

namespace lp::launch {
namespace {

class SavedCurvesTest : public testing::Test {
 protected:
  void write(std::uint64_t first, std::uint64_t last, double value, const std::string& node = "worker/0") {
    Curves curves(directory_.path());
    for (std::uint64_t step = first; step <= last; ++step)
      curves.add(node, {.step = step, .values = {{"loss", value}}});
    ASSERT_EQ(curves.flush(), "");
  }
  std::vector<std::pair<std::uint64_t, double>> loss(const std::string& node = "worker/0") const {
    std::vector<std::pair<std::uint64_t, double>> points;
    auto curves = read_curves(directory_.path());
    for (const SavedPoint& point : curves[node]["loss"]) {
      points.emplace_back(point.step, point.value);
    }
    return points;
  }
  std::filesystem::path folder() const { return directory_.path() / "curves/worker/0"; }

  lp::test::Directory directory_;
};

TEST_F(SavedCurvesTest, NodesHaveTheirValuesAndAStepIsThereOnce) {
  write(1, 3, 1);
  write(2, 4, 2);
  write(7, 7, std::nan(""), "server");
  using Steps = std::vector<std::pair<std::uint64_t, double>>;
  EXPECT_EQ(loss(), Steps({{1, 1}, {2, 2}, {3, 2}, {4, 2}}));
  ASSERT_EQ(loss("server").size(), 1U);
  EXPECT_TRUE(std::isnan(loss("server")[0].second));
  EXPECT_GT(read_curves(directory_.path())["server"]["loss"][0].time, 1.5e9);
  EXPECT_TRUE(read_curves(directory_.path() / "none").empty());
}

TEST_F(SavedCurvesTest, AFileThatIsCutOrDamagedHasItsFirstRecords) {
  write(1, 100, 1);
  const std::filesystem::path file = event_files(folder()).at(0);
  const std::string whole = read_text(file, kLargestEventFile);
  std::vector<std::size_t> ends;
  EXPECT_EQ(read_events(whole,
                        [&](const ReadEvent& event) {
                          ends.push_back((ends.empty() ? 0 : ends.back()) + event.record.size());
                        }),
            whole.size());
  EXPECT_EQ(ends.back(), whole.size());
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    std::size_t records = 0;
    const std::size_t read = read_events(whole.substr(0, size), [&](const ReadEvent&) { ++records; });
    EXPECT_LE(read, size);
    EXPECT_EQ(records == 0 ? 0 : ends[records - 1], read);
    EXPECT_GT(ends[records], size);
  }
  std::string damaged = whole;
  damaged[whole.size() / 2] ^= 1;
  write_file(file, damaged);
  EXPECT_GT(loss().size(), 30U);
  EXPECT_LT(loss().size(), 60U);
  const std::vector<std::string> damages = damaged_curves(directory_.path());
  ASSERT_EQ(damages.size(), 1U);
  EXPECT_NE(damages[0].find(file.string() + " is damaged after "), std::string::npos) << damages[0];
  write_file(file, whole.substr(0, whole.size() - 3));  // as a killed writer leaves it
  EXPECT_TRUE(damaged_curves(directory_.path()).empty());
}

TEST_F(SavedCurvesTest, AResumedRunContinuesTheCurves) {
  write(1, 6, 1);
  write(4, 9, 2);
  const lp::test::Directory next;
  for (int start = 0; start < 2; ++start) {  // the job begins again before its first checkpoint
    continue_curves(directory_.path(), next.path());
    Curves curves(next.path());
    for (std::uint64_t step = 8; step <= 10; ++step) curves.add("worker/0", {.step = step, .values = {{"loss", 3}}});
    EXPECT_EQ(curves.flush(), "");
  }
  std::vector<double> values;
  std::uint64_t last = 0;
  auto all = read_curves(next.path());
  for (const SavedPoint& point : all["worker/0"]["loss"]) {
    EXPECT_EQ(point.step, ++last);
    values.push_back(point.value);
  }
  EXPECT_EQ(values, (std::vector<double>{1, 1, 1, 2, 2, 2, 2, 3, 3, 3}));
}

TEST_F(SavedCurvesTest, AResumedRunHasValuesAndTextsHoweverManyThereWere) {
  const lp::test::Directory next;
  {
    Curves curves(directory_.path());
    for (std::uint64_t step = 1; step <= 5000; ++step) {
      curves.add("worker/0", {.step = step, .values = {{"loss", 1}}, .texts = {{"text", std::string(10'000, 'x')}}});
    }
    EXPECT_EQ(curves.flush(), "");
  }
  continue_curves(directory_.path(), next.path());
  const lp::test::EventFolder before = lp::test::read_event_folder(folder());
  const lp::test::EventFolder all = lp::test::read_event_folder(next.path() / "curves/worker/0");
  EXPECT_GT(before.texts.at("text").size() * 10'000, 2 * Curves::kWholeBytes);
  EXPECT_LT(all.texts.at("text").size() * 10'000, 2 * Curves::kWholeBytes);
  EXPECT_GT(all.texts.at("text").size(), before.texts.at("text").size() / 3);
  EXPECT_EQ(all.numbers.at("loss").size(), 5000U);
}

TEST_F(SavedCurvesTest, CurvesThatAreResumedOftenStayBounded) {
  std::filesystem::path earlier = directory_.path();
  std::vector<lp::test::Directory> runs(4);
  for (std::uint64_t run = 0; run < runs.size(); ++run) {
    continue_curves(earlier, runs[run].path());
    Curves curves(runs[run].path());
    for (std::uint64_t step = 1; step <= 200'000; ++step) {
      curves.add("worker/0", {.step = run * 200'000 + step, .values = {{"loss", 1}}});
    }
    EXPECT_EQ(curves.flush(), "");
    earlier = runs[run].path();
  }
  std::uint64_t bytes = 0;
  for (const std::filesystem::path& file : event_files(earlier / kCurves / "worker/0")) {
    bytes += std::filesystem::file_size(file);
  }
  EXPECT_LT(bytes, 5 * Curves::kWholeBytes);
  EXPECT_EQ(read_curves(earlier)["worker/0"]["loss"].back().step, 800'000U);
  EXPECT_LT(read_curves(earlier)["worker/0"]["loss"].front().step, 10U);
}

TEST(Hyperparameters, AreTheFieldsOfTheConfiguration) {
  const auto all = hyperparameters_of(
      "rate: 0.5\nmodel:\n  hidden: 64\n  name: \"7\"\nfast: true\nlist: [32, 16]\n"
      "none: []\ndeep: [[1]]\nlong: \"" +
      std::string(1000, 'x') + "\"\n");
  ASSERT_EQ(all.size(), 6U);
  EXPECT_EQ(std::get<std::string>(all.at("list")), "32,16");
  EXPECT_EQ(std::get<std::string>(all.at("none")), "");
  EXPECT_EQ(std::get<double>(all.at("rate")), 0.5);
  EXPECT_EQ(std::get<double>(all.at("model.hidden")), 64);
  EXPECT_EQ(std::get<std::string>(all.at("model.name")), "7");
  EXPECT_TRUE(std::get<bool>(all.at("fast")));
  EXPECT_TRUE(hyperparameters_of("a: [").empty());
}

TEST_F(SavedCurvesTest, OtherFilesAndUnknownFieldsAreLeftAlone) {
  write(1, 2, 1);
  write_file(folder() / "notes.txt", "mine");
  std::filesystem::create_directories(directory_.path() / "curves/events.out.tfevents.folder");
  write_file(folder() / "events.out.tfevents.9999999999", "no records");
  EXPECT_EQ(loss().size(), 2U);
}

}  // namespace
}  // namespace lp::launch

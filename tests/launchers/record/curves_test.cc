// The curves of a run in event files: restarts, bad names and numbers, bounds, and a full disk.
#include "launchers/record/curves.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lp/program/progress.h"
#include "tests/directory.h"
#include "tests/full_disk.h"
#include "tests/launchers/record/event_records.h"

namespace lp::launch {
namespace {

using Points = std::vector<std::pair<std::uint64_t, float>>;

TEST(EventRecords, CheckSumsAreThoseOfRfc3720) {
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43U);
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
}

class CurvesTest : public testing::Test {
 protected:
  static void report(Curves& curves, std::uint64_t step, double loss) {
    curves.add("worker/0", {.step = step, .values = {{"loss", loss}}});
  }
  lp::test::EventCurves read() const { return lp::test::read_curves(directory_.path() / "curves" / "worker" / "0"); }

  lp::test::Directory directory_;
};

TEST_F(CurvesTest, EachStepHasItsValues) {
  Curves curves(directory_.path());
  curves.add("worker/0", {.step = 1, .values = {{"loss", 0.5}, {"images/s", 100}}});
  curves.add("worker/0", {.step = 1, .values = {{"accuracy", 0.25}, {"loss", 0.75}}});
  EXPECT_EQ(curves.flush(), "");
  report(curves, 1, 9);  // its first value is in the file
  report(curves, 2, std::numeric_limits<double>::infinity());
  report(curves, 300, std::nan(""));
  EXPECT_EQ(curves.flush(), "");
  EXPECT_FALSE(curves.lost());
  lp::test::EventCurves all = read();
  EXPECT_EQ(all["images/s"], Points({{1, 100.0F}}));
  EXPECT_EQ(all["accuracy"], Points({{1, 0.25F}}));
  ASSERT_EQ(all["loss"].size(), 3U);
  EXPECT_EQ(all["loss"][0], std::pair(std::uint64_t{1}, 0.75F));
  EXPECT_EQ(all["loss"][1], std::pair(std::uint64_t{2}, std::numeric_limits<float>::infinity()));
  EXPECT_EQ(all["loss"][2].first, 300U);
  EXPECT_TRUE(std::isnan(all["loss"][2].second));
}

TEST_F(CurvesTest, AStepThatComesAgainReplacesAllFromThereOn) {
  {
    Curves curves(directory_.path());
    for (std::uint64_t step = 1; step <= 10; ++step) report(curves, step, 1);
    curves.flush();
    for (std::uint64_t step = 6; step <= 8; ++step) report(curves, step, 2);  // the node was restarted
    curves.flush();
  }
  Curves next(directory_.path());  // the run was started again in its directory
  for (std::uint64_t step = 8; step <= 9; ++step) report(next, step, 3);
  next.flush();
  EXPECT_EQ(
      read()["loss"],
      Points({{1, 1.0F}, {2, 1.0F}, {3, 1.0F}, {4, 1.0F}, {5, 1.0F}, {6, 2.0F}, {7, 2.0F}, {8, 3.0F}, {9, 3.0F}}));
}

TEST_F(CurvesTest, ValuesThatAreReportedAtDifferentStepsKeepAllOfThem) {
  Curves curves(directory_.path());
  const auto add = [&](const char* name, std::uint64_t step) {
    curves.add("worker/0", {.step = step, .values = {{name, static_cast<double>(step)}}});
  };
  add("reward", 100);
  add("evaluation", 90);  // it belongs to an older version
  add("reward", 110);
  add("evaluation", 100);
  curves.flush();
  EXPECT_EQ(read()["reward"], Points({{100, 100.0F}, {110, 110.0F}}));
  EXPECT_EQ(read()["evaluation"], Points({{90, 90.0F}, {100, 100.0F}}));
  add("reward", 105);  // it was restarted
  curves.flush();
  EXPECT_EQ(read()["reward"], Points({{100, 100.0F}, {105, 105.0F}}));
}

TEST_F(CurvesTest, NamesBecomePrintableAndHaveABound) {
  Curves curves(directory_.path());
  curves.add("worker/0", {.step = 1, .values = {{"a\033[31m\xff", 1}, {"", 2}, {std::string(10'000, 'x'), 3}}});
  EXPECT_EQ(curves.flush(), "");
  lp::test::EventCurves all = read();
  EXPECT_TRUE(all.contains("a\\x1b[31m\\xff"));
  EXPECT_TRUE(all.contains("unnamed"));
  EXPECT_TRUE(all.contains(std::string(Curves::kNameBytes, 'x')));
  for (int i = 0; i < 100'000; ++i) {
    curves.add("worker/0", {.step = 2, .values = {{"name" + std::to_string(i), 1}}});
  }
  EXPECT_NE(curves.flush().find("worker/0 reports values under more than 1000 names"), std::string::npos);
  EXPECT_EQ(curves.flush(), "");
  EXPECT_EQ(read().size(), Curves::kNames);
}

TEST_F(CurvesTest, LongCurvesHaveFewerSteps) {
  Curves curves(directory_.path());
  constexpr std::uint64_t kSteps = 1'000'000;
  for (std::uint64_t step = 1; step <= kSteps; ++step) report(curves, step, static_cast<double>(step));
  EXPECT_EQ(curves.flush(), "");
  std::uint64_t bytes = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(directory_.path())) {
    if (file.is_regular_file()) bytes += file.file_size();
  }
  EXPECT_LT(bytes, 3 * Curves::kWholeBytes);
  const Points points = read()["loss"];
  EXPECT_GT(points.size(), 50'000U);
  for (std::size_t i = 0; i < 50'000; ++i) ASSERT_EQ(points[i].first, i + 1);
  EXPECT_GT(points.back().first, kSteps - 64);
}

TEST_F(CurvesTest, AFullDiskIsToldOnceAndLeavesWholeRecords) {
  const lp::test::FullDisk disk(1 << 20);
  Curves curves(directory_.path());
  std::string faults;
  std::uint64_t step = 0;
  while (faults.empty() && step < 100'000) {
    report(curves, ++step, 1);
    if (step % 1000 == 0) faults = curves.flush();
  }
  EXPECT_NE(faults.find("the curves of the run cannot be written: "), std::string::npos) << faults;
  EXPECT_NE(faults.find("File too large"), std::string::npos) << faults;
  EXPECT_TRUE(curves.lost());
  for (int i = 0; i < 20'000; ++i) report(curves, ++step, 1);
  EXPECT_EQ(curves.flush(), "");
  EXPECT_TRUE(curves.lost());
  const Points points = read()["loss"];
  ASSERT_FALSE(points.empty());
  for (std::size_t i = 0; i < points.size(); ++i) ASSERT_EQ(points[i].first, i + 1);
}

TEST_F(CurvesTest, ANodeThatWentBackWhileTheDiskWasFullHasNoStepTwice) {
  std::optional<lp::test::FullDisk> disk(1 << 20);
  Curves curves(directory_.path());
  for (std::uint64_t step = 1; step <= 40'000; ++step) report(curves, step, 1);
  for (std::uint64_t step = 1; step <= 10'000; ++step) report(curves, step, 2);
  EXPECT_NE(curves.flush(), "");
  disk.reset();
  for (std::uint64_t step = 10'001; step <= 10'010; ++step) report(curves, step, 2);
  EXPECT_EQ(curves.flush(), "");
  const Points points = read()["loss"];
  ASSERT_GT(points.size(), 9'000U);
  for (std::size_t i = 1; i < points.size(); ++i) ASSERT_GT(points[i].first, points[i - 1].first);
  EXPECT_EQ(points.back(), std::pair(std::uint64_t{10'010}, 2.0F));
}

TEST_F(CurvesTest, HistogramsAndTextsAreKeptByStepAndReplacedLikeValues) {
  Curves curves(directory_.path());
  const auto add = [&](std::uint64_t step, const std::vector<float>& weights, const std::string& text) {
    curves.add("worker/0", {.step = step,
                            .values = {{"loss", 1}},
                            .histograms = {{"weights", histogram_of(weights)}, {"none", ValueHistogram()}},
                            .texts = {{"sample", text}}});
  };
  add(1, {0, 30, 15}, "# one\ntwo");
  add(2, {1}, "lost");
  add(3, {1}, "lost");
  curves.flush();
  add(2, {2, 2}, std::string("\xff\0", 2) + "end");  // the node was restarted
  EXPECT_EQ(curves.flush(), "");
  const lp::test::EventFolder all = lp::test::read_event_folder(directory_.path() / "curves" / "worker" / "0");
  using Texts = std::vector<std::pair<std::uint64_t, std::string>>;
  EXPECT_EQ(all.texts.at("sample"), (Texts{{1, "# one\ntwo"}, {2, "\\xff\\x00end"}}));
  ASSERT_EQ(all.histograms.at("weights").size(), 2U);
  EXPECT_FALSE(all.histograms.contains("none"));
  const lp::test::EventHistogram& first = all.histograms.at("weights")[0].second;
  EXPECT_EQ(first.least, 0);
  EXPECT_EQ(first.most, 30);
  EXPECT_EQ(first.count, 3);
  EXPECT_EQ(first.sum, 45);
  EXPECT_EQ(first.squares, 1125);
  ASSERT_EQ(first.bounds.size(), 30U);
  EXPECT_EQ(first.bounds.front(), 1);
  EXPECT_EQ(first.bounds.back(), 30);
  EXPECT_EQ(first.buckets[0], 1);
  EXPECT_EQ(first.buckets[15], 1);
  EXPECT_EQ(first.buckets[29], 1);
  EXPECT_EQ(all.histograms.at("weights")[1].second.sum, 4);
  EXPECT_EQ(all.numbers.at("loss").size(), 2U);
}

TEST_F(CurvesTest, LongTextsAreThinnedOutAndTakeNoValuesWithThem) {
  Curves curves(directory_.path());
  const std::string text(Progress::kTextBytes, 'x');
  for (std::uint64_t step = 1; step <= 2000; ++step) {
    curves.add("worker/0", {.step = step, .values = {{"loss", 1}}, .texts = {{"sample", text}}});
  }
  curves.flush();
  const lp::test::EventFolder all = lp::test::read_event_folder(directory_.path() / "curves" / "worker" / "0");
  EXPECT_EQ(all.numbers.at("loss").size(), 2000U);
  EXPECT_GT(all.texts.at("sample").size(), 250U);
  EXPECT_LT(all.texts.at("sample").size() * text.size(), 3 * Curves::kWholeBytes);
}

TEST_F(CurvesTest, AValueThatIsReportedAtFewStepsIsThinnedOutByThoseAlone) {
  Curves curves(directory_.path());
  constexpr std::uint64_t kSteps = 400'000;
  for (std::uint64_t step = 1; step <= kSteps; ++step) {
    report(curves, step, 1);
    if (step % 100 == 1) curves.add("worker/0", {.step = step, .values = {{"accuracy", 1}}});
  }
  curves.flush();
  EXPECT_GT(read()["accuracy"].back().first, kSteps - 3000);
}

TEST_F(CurvesTest, ARunWithoutADirectoryHasNone) {
  Curves curves({});
  report(curves, 1, 1);
  EXPECT_EQ(curves.flush(), "");
}

}  // namespace
}  // namespace lp::launch

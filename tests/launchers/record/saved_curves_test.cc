// Event files that are read back: as they were written, with restarts, cut, damaged, and of many nodes.
#include "launchers/record/saved_curves.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "launchers/record/curves.h"
#include "launchers/record/event_reader.h"
#include "launchers/record/event_records.h"
#include "lp/base/file.h"
#include "lp/program/progress.h"
#include "tests/directory.h"

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
    for (const SavedPoint& point : read_curves(directory_.path())[node]["loss"]) {
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
  using Points = std::vector<std::pair<std::uint64_t, double>>;
  EXPECT_EQ(loss(), Points({{1, 1}, {2, 2}, {3, 2}, {4, 2}}));
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

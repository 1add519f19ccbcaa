#include "lp/checkpoint/cut.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/file.h"
#include "lp/base/scheduler.h"
#include "tests/directory.h"
#include "tests/error_of.h"

namespace lp {
namespace {

using test::error_of;

const std::vector<std::string> kMembers{"server/0", "server/1", "table"};

class Cuts : public testing::Test {
 protected:
  std::filesystem::path path(std::uint64_t step) const { return cut_directory(run_, step); }

  void write_member(std::uint64_t step, const std::string& node) const {
    Checkpoint checkpoint;
    checkpoint.put("value", node + " at " + std::to_string(step));
    checkpoint.write(cut_file(path(step), node), node, step);
  }
  void take(std::uint64_t step) const {
    for (const std::string& node : kMembers) write_member(step, node);
    complete_cut(run_, step, "digits", 0xfeed, kMembers);
  }
  std::vector<std::uint64_t> steps() const {
    std::vector<std::uint64_t> steps;
    for (const Cut& cut : list_cuts(run_).cuts) steps.push_back(cut.step);
    return steps;
  }
  std::set<std::string> directories() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(run_ / "checkpoints")) {
      names.insert(entry.path().filename());
    }
    return names;
  }
  // Checks that the cut of step 100 is intact, and that the newer one has the fault `problem`.
  void expect_only_100(const std::string& problem) const {
    const CutList list = list_cuts(run_);
    ASSERT_EQ(list.cuts.size(), 1u) << problem;
    EXPECT_EQ(list.cuts[0].step, 100u);
    ASSERT_EQ(list.problems.size(), 1u) << problem;
    EXPECT_NE(list.problems[0].find(problem), std::string::npos) << list.problems[0];
    std::vector<std::string> passed_over;
    const auto latest = latest_cut(run_, &passed_over);
    ASSERT_TRUE(latest);
    EXPECT_EQ(latest->step, 100u);
    EXPECT_EQ(passed_over, list.problems);
    EXPECT_EQ(read_cut_file(latest->directory, "server/1").get<std::string>("value"), "server/1 at 100");
  }

  const test::Directory directory_;
  const std::filesystem::path run_ = directory_.path();
};

TEST_F(Cuts, ACompleteCutComesBack) {
  take(100);
  const auto cut = latest_cut(run_);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->directory, run_ / "checkpoints" / "step-000000000100");
  EXPECT_EQ(cut->step, 100u);
  EXPECT_EQ(cut->program, "digits");
  EXPECT_EQ(cut->fingerprint, 0xfeedu);
  ASSERT_EQ(cut->members.size(), 3u);
  EXPECT_EQ(cut->members[1].node, "server/1");
  EXPECT_EQ(cut->members[1].size, std::filesystem::file_size(cut_file(cut->directory, "server/1")));
  EXPECT_EQ(read_cut_file(cut->directory, "table").get<std::string>("value"), "table at 100");
}

TEST_F(Cuts, ACutOfAnotherRunIsOneOfThisRunAndStaysWhenThatIsGone) {
  take(100);
  const test::Directory other;
  const Cut adopted = adopt_cut(other.path(), *latest_cut(run_));
  std::filesystem::remove_all(run_ / "checkpoints");
  const auto cut = latest_cut(other.path());
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->directory, adopted.directory);
  EXPECT_EQ(cut->step, 100u);
  EXPECT_EQ(cut->program, "digits");
  EXPECT_EQ(cut->fingerprint, 0xfeedu);
  EXPECT_EQ(read_cut_file(cut->directory, "table").get<std::string>("value"), "table at 100");
}

TEST_F(Cuts, ACutThatCannotBeAdoptedLeavesNothing) {
  take(100);
  Cut cut = *latest_cut(run_);
  cut.members.push_back({.node = "missing"});
  const test::Directory other;
  EXPECT_NE(error_of([&] { adopt_cut(other.path(), cut); }).find("cannot copy to"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(other.path() / "checkpoints"));
}

TEST_F(Cuts, ThereAreNoneAtFirst) {
  EXPECT_TRUE(list_cuts(run_).cuts.empty());
  EXPECT_FALSE(latest_cut(run_));
  EXPECT_FALSE(latest_cut(run_ / "missing"));
  prune_cuts(run_, {});
}

TEST_F(Cuts, TheyAreListedByStep) {
  for (const std::uint64_t step : std::vector<std::uint64_t>{1'000'000'000'000, 200, 0, 1000}) take(step);
  write_file_durably(run_ / "checkpoints" / "notes.txt", "not a cut");
  std::filesystem::create_directory(run_ / "checkpoints" / "step-7");
  EXPECT_EQ(steps(), (std::vector<std::uint64_t>{0, 200, 1000, 1'000'000'000'000}));
  EXPECT_TRUE(list_cuts(run_).problems.empty());
  EXPECT_EQ(latest_cut(run_)->step, 1'000'000'000'000u);
}

TEST_F(Cuts, NodesHaveFilesOfTheirOwn) {
  const std::vector<std::string> nodes{"a/1", "a@1", "a%401", "a.1", "a-1", "A/1", "a/", "", "..", ".", "a b", "\xff"};
  std::set<std::filesystem::path> files;
  for (const std::string& node : nodes) {
    const std::filesystem::path file = cut_file("cut", node);
    EXPECT_EQ(file.parent_path(), "cut");
    EXPECT_EQ(file.filename().string().find_first_of("/ "), std::string::npos);
    files.insert(file);
  }
  EXPECT_EQ(files.size(), nodes.size());
  EXPECT_EQ(cut_file("cut", "worker/3"), "cut/worker@3.checkpoint");
}

// One after the other, every state that a crash can leave while the cut of step 200 is taken.
TEST_F(Cuts, ACrashAtAnyMomentLeavesThePreviousCut) {
  take(100);
  const std::string none = "incomplete: it has no MANIFEST";
  path(200);
  expect_only_100(none);
  write_file_durably(path(200) / ".server@0.checkpoint.tmp0", "half");
  expect_only_100(none);
  for (const std::string& node : kMembers) {
    write_member(200, node);
    expect_only_100(none);
  }
  write_file_durably(path(200) / ".MANIFEST.tmp0", "half");
  expect_only_100(none);
  complete_cut(run_, 200, "digits", 0xfeed, kMembers);
  EXPECT_EQ(steps(), (std::vector<std::uint64_t>{100, 200}));
}

TEST_F(Cuts, ADamagedManifestMakesNoCut) {
  take(100);
  take(200);
  const auto manifest = path(200) / "MANIFEST";
  const std::uint64_t size = std::filesystem::file_size(manifest);
  for (const std::uint64_t cut : {size - 1, size / 2, std::uint64_t{70}}) {
    std::filesystem::resize_file(manifest, cut);
    expect_only_100("it was only partly written");
  }
  std::filesystem::resize_file(manifest, 0);
  expect_only_100("it is empty");
  std::filesystem::copy_file(path(100) / "MANIFEST", manifest, std::filesystem::copy_options::overwrite_existing);
  expect_only_100("is of node '' at step 100, not of '' at step 200");
}

TEST_F(Cuts, AMissingOrDamagedMemberMakesNoCut) {
  take(100);
  take(200);
  const auto file = cut_file(path(200), "server/0");
  std::filesystem::rename(file, run_ / "aside");
  expect_only_100("No such file or directory");
  std::filesystem::copy_file(cut_file(path(100), "server/0"), file);
  expect_only_100("is of node 'server/0' at step 100, not of 'server/0' at step 200");
  Checkpoint other;
  other.put("value", 1);
  other.write(file, "server/0", 200);
  expect_only_100("is not the file that the manifest lists");
  std::filesystem::rename(run_ / "aside", file);
  EXPECT_EQ(steps(), (std::vector<std::uint64_t>{100, 200}));
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
  expect_only_100("it was only partly written");
}

// The listing does not read contents; choosing the one to restore does.
TEST_F(Cuts, OneThatIsNotWholeIsNotChosen) {
  take(100);
  take(200);
  const auto file = cut_file(path(200), "server/0");
  const Buffer bytes = read_file(file, 1 << 20);
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  text[64] = static_cast<char>(text[64] ^ 1);
  write_file_durably(file, text);
  EXPECT_EQ(steps(), (std::vector<std::uint64_t>{100, 200}));
  std::vector<std::string> problems;
  EXPECT_EQ(latest_cut(run_, &problems)->step, 100u);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_NE(problems[0].find("\"value\" is corrupted"), std::string::npos) << problems[0];
}

TEST_F(Cuts, ACutIsCompletedOnlyWithAllMembers) {
  write_member(100, "server/0");
  const auto missing = cut_file(path(100), "server/1");
  EXPECT_EQ(error_of([&] { complete_cut(run_, 100, "digits", 1, kMembers); }),
            "cannot read " + missing.string() + ": No such file or directory");
  EXPECT_NE(error_of([&] { complete_cut(run_, 100, "digits", 1, {}); }), "no error");
  EXPECT_TRUE(steps().empty());
}

TEST_F(Cuts, AFileOfAnotherNodeIsRefused) {
  take(100);
  std::filesystem::rename(cut_file(path(100), "server/1"), cut_file(path(100), "server/2"));
  EXPECT_EQ(
      error_of([&] { read_cut_file(path(100), "server/2"); }),
      cut_file(path(100), "server/2").string() + " is of node 'server/1' at step 100, not of 'server/2' at step 100");
  EXPECT_NE(error_of([&] { read_cut_file(run_, "server/2"); }).find("is not a checkpoint"), std::string::npos);
}

TEST_F(Cuts, PruningKeepsTheNewestAndWhatIsBeingWritten) {
  for (const std::uint64_t step : {100u, 200u, 300u, 400u}) take(step);
  write_member(50, "table");   // never completed
  write_member(350, "table");  // never completed, and older than the newest
  write_member(500, "table");  // being written
  prune_cuts(run_, std::vector<std::uint64_t>{300, 400});
  EXPECT_EQ(directories(), (std::set<std::string>{"step-000000000300", "step-000000000400", "step-000000000500"}));
  prune_cuts(run_, std::vector<std::uint64_t>{400});
  EXPECT_EQ(directories(), (std::set<std::string>{"step-000000000400", "step-000000000500"}));
}

TEST_F(Cuts, PruningWithoutACompleteCutRemovesNothing) {
  write_member(50, "table");
  write_member(60, "table");
  prune_cuts(run_, {});
  EXPECT_EQ(directories().size(), 2u);
}

TEST_F(Cuts, ADirectoryThatCannotBeMadeIsNamed) {
  write_file_durably(run_ / "file", "x");
  EXPECT_EQ(
      error_of([&] { cut_directory(run_ / "file", 1); }),
      "cannot make the directory " + (run_ / "file/checkpoints/step-000000000001").string() + ": Not a directory");
}

TEST_F(Cuts, AnEditedCutIsCompleteAgain) {
  take(100);
  std::vector<EditedFile> edited;
  for (const char* node : {"server/0", "table"}) {
    edited.push_back({cut_file(path(100), node), read_cut_file(path(100), node)});
    edited.back().checkpoint.replace("value", std::string("edited"));
  }
  write_edited(edited);
  const auto cut = latest_cut(run_);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->fingerprint, 0xfeedU);
  EXPECT_EQ(cut->members.size(), 3U);
  EXPECT_EQ(read_cut_file(cut->directory, "table").get<std::string>("value"), "edited");
  EXPECT_EQ(read_cut_file(cut->directory, "server/1").get<std::string>("value"), "server/1 at 100");
}

TEST_F(Cuts, ADamagedCutIsNotEdited) {
  take(100);
  const EditedFile edited{cut_file(path(100), "table"), read_cut_file(path(100), "table")};
  std::filesystem::remove(cut_file(path(100), "server/1"));
  EXPECT_THROW(write_edited(std::span(&edited, 1)), Error);
}

// A member that finds the disk full removes its unfinished file while the supervisor removes the cut.
TEST_F(Cuts, ACutIsRemovedWhileMembersWriteItsFiles) {
  const std::filesystem::path cut = cut_directory(run_, 1);
  std::atomic<bool> over = false;
  {
    const Thread member = spawn("member", [&] {
      std::error_code ignored;  // the directory may be gone
      for (int i = 0; i < 1000; ++i) {
        std::filesystem::create_directory(cut, ignored);
        for (const char* name : {"a", "b", "c", "d"}) std::ofstream(cut / name) << name;
        for (const char* name : {"a", "b", "c", "d"}) std::filesystem::remove(cut / name, ignored);
      }
      over = true;
    });
    while (!over) EXPECT_EQ(error_of([&] { remove_cut(run_, 1); }), "no error");
  }
  remove_cut(run_, 1);
  EXPECT_FALSE(std::filesystem::exists(cut));
}

TEST_F(Cuts, ARunWhoseDirectoryWasRemovedGetsNoNewOne) {
  std::filesystem::remove_all(run_);
  EXPECT_NE(error_of([&] { cut_directory(run_, 1); }).find("No such file or directory"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(run_));
}

}  // namespace
}  // namespace lp

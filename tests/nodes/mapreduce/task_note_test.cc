#include "nodes/mapreduce/task_note.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/directory.h"
#include "tests/full_disk.h"

namespace lp::dataflow {
namespace {

TEST(TaskNoteTest, WhereAProcessHasEndedIsReadByTheNextOne) {
  const test::Directory directory;
  const std::filesystem::path file = directory.path() / "note";
  const pid_t child = fork();
  if (child == 0) {
    TaskNote note(file);
    note.begin({.plan = 7, .kind = TaskKind::map, .task = 3});
    note.set_place("/texts/a");
    for (std::uint64_t offset = 0; offset < 100; offset += 11) note.set_offset(offset);
    kill(getpid(), SIGKILL);
  }
  waitpid(child, nullptr, 0);
  const auto last = TaskNote::read(file);
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(last->plan, 7U);
  EXPECT_EQ(last->kind, TaskKind::map);
  EXPECT_EQ(last->task, 3U);
  EXPECT_EQ(last->record, (BadRecord{.place = "/texts/a", .offset = 99}));
}

TEST(TaskNoteTest, OutsideTheFunctionsOfAJobThereIsNoPlace) {
  const test::Directory directory;
  const std::filesystem::path file = directory.path() / "note";
  EXPECT_FALSE(TaskNote::read(file).has_value());
  TaskNote note(file);
  EXPECT_FALSE(TaskNote::read(file).has_value());
  note.begin({.plan = 7, .kind = TaskKind::reduce});
  note.set_place("key");
  EXPECT_FALSE(TaskNote::read(file).has_value());
  note.set_offset(0);
  EXPECT_TRUE(TaskNote::read(file).has_value());
  note.set_place(std::string(TaskNote::kLongestPlace + 1, 'x'));
  note.set_offset(0);
  EXPECT_FALSE(TaskNote::read(file).has_value());
  note.set_place("key");
  note.set_offset(0);
  note.end();
  EXPECT_FALSE(TaskNote::read(file).has_value());
  std::ofstream(file) << "no note";
  EXPECT_FALSE(TaskNote::read(file).has_value());
}

TEST(TaskNoteTest, OnAFullDiskItIsWrittenToMemory) {
  const test::Directory directory;
  const test::FullDisk full(0);
  TaskNote note(directory.path() / "note");
  note.begin({.plan = 7, .kind = TaskKind::map});
  note.set_place("/texts/a");
  note.set_offset(1);
  EXPECT_FALSE(TaskNote::read(directory.path() / "note").has_value());
}

}  // namespace
}  // namespace lp::dataflow

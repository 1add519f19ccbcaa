// Mailboxes: order, room, waiting callers, and cuts.
#include "nodes/mailbox.h"

#include <gtest/gtest.h>

#include <string>

#include "lp/checkpoint/cut.h"
#include "lp/lp.h"
#include "tests/directory.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

using Box = Mailbox<std::string>;
using SavedBox = SavedMailbox<std::string>;

TEST(MailboxTest, GivesMessagesInTheirOrderAndWaitsForTheNext) {
  Program program("mail");
  const auto handle = program.add<Box>({.name = "inbox"}, std::size_t{10});
  LocalRun run(program);
  const Client<Box> box = run.client(handle);
  box.call<&Box::put>("a");
  box.call<&Box::put>("b");
  EXPECT_EQ(box.call<&Box::take>(), "a");
  EXPECT_EQ(box.call<&Box::take>(), "b");
  Future<std::string> next = box.async<&Box::take>();
  EXPECT_EQ(box.call<&Box::size>(), 0U);
  EXPECT_FALSE(next.ready());
  box.call<&Box::put>("c");
  EXPECT_EQ(next.get(), "c");
}

TEST(MailboxTest, APutWaitsForRoom) {
  Program program("mail");
  const auto handle = program.add<Box>({.name = "inbox"}, std::size_t{1});
  LocalRun run(program);
  const Client<Box> box = run.client(handle);
  box.call<&Box::put>("a");
  Future<void> second = box.async<&Box::put>("b");
  EXPECT_EQ(box.call<&Box::size>(), 1U);
  EXPECT_FALSE(second.ready());
  EXPECT_EQ(box.call<&Box::take>(), "a");
  second.get();
  EXPECT_EQ(box.call<&Box::take>(), "b");
}

TEST(MailboxTest, AWaitEndsAtItsDeadline) {
  Program program("mail");
  const auto handle = program.add<Box>({.name = "inbox"}, std::size_t{1});
  LocalRun run(program);
  try {
    run.client(handle).within(std::chrono::milliseconds(20)).call<&Box::take>();
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::deadline);
  }
}

TEST(SavedMailboxTest, HasAfterARestartTheMessagesOfTheCut) {
  const test::Directory directory;
  Program program("mail");
  const auto handle = program.add<SavedBox>({.name = "inbox"}, context, std::size_t{10});
  LocalRun run(program, {.run = {.directory = directory.path()}});
  const Client<SavedBox> box = run.client(handle);
  for (const char* text : {"a", "b", "c"}) box.call<&SavedBox::put>(text);
  EXPECT_EQ(box.call<&SavedBox::take>(), "a");
  box.call<&SavedBox::cut>(1);
  run.wait_saved(1, 1);
  EXPECT_EQ(box.call<&SavedBox::take>(), "b");
  run.restart({"inbox"}, cut_directory(directory.path(), 1));
  EXPECT_EQ(box.call<&SavedBox::take>(), "b");
  EXPECT_EQ(box.call<&SavedBox::take>(), "c");
}

}  // namespace
}  // namespace lp

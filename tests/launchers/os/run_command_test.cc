#include "launchers/os/run_command.h"

#include <gtest/gtest.h>

#include "lp/base/error.h"

namespace lp::launch {
namespace {

constexpr auto kLimit = std::chrono::minutes(1);

TEST(Command, ReturnsBothStreamsAndTheExitCode) {
  const Output output = run({"/bin/sh", "-c", "echo good; echo bad >&2; exit 7"}, kLimit);
  EXPECT_EQ(output.code, 7);
  EXPECT_EQ(output.text, "good\n");
  EXPECT_EQ(output.errors, "bad\n");
}

TEST(Command, NoShellReadsItsWords) {
  EXPECT_EQ(run({"printf", "%s|", "$HOME", "two words", "it's; `false`"}, kLimit).text,
            "$HOME|two words|it's; `false`|");
}

TEST(Command, HasNoInput) { EXPECT_EQ(run({"cat"}, kLimit).code, 0); }

TEST(Command, MayPrintMoreThanAPipeHolds) {
  const Output output = run({"/bin/sh", "-c", "head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2"}, kLimit);
  EXPECT_EQ(output.text.size(), 3'000'000);
  EXPECT_EQ(output.errors.size(), 3'000'000);
}

TEST(Command, ThatASignalEndsHasACodeAbove128) {
  EXPECT_EQ(run({"/bin/sh", "-c", "kill -9 $$"}, kLimit).code, 128 + 9);
}

TEST(Command, ThatDoesNotExistSaysSo) {
  const Output output = run({"no-such-program-of-lp"}, kLimit);
  EXPECT_EQ(output.code, Output::kNotStarted);
  EXPECT_NE(output.errors.find("cannot start no-such-program-of-lp: No such file"), std::string::npos) << output.errors;
}

TEST(Command, ThatTakesTooLongIsKilledWithAllThatItHasStarted) {
  // The inner shell holds the pipe open, and only a signal ends it.
  const Output output =
      run({"/bin/sh", "-c", "echo begun; /bin/sh -c 'kill -STOP $$'; echo over"}, std::chrono::milliseconds(200));
  EXPECT_EQ(output.code, Output::kTimedOut);
  EXPECT_EQ(output.text, "begun\n");
  EXPECT_EQ(output.errors, "it did not end in 200 ms");
}

TEST(Command, IsNotAwaitedForAProcessThatItLeavesBehind) {
  // The process that stays keeps standard output open until it reads a line from the end of a pipe that never comes.
  const Output output = run({"/bin/sh", "-c",
                             "mkfifo_dir=$(mktemp -d); mkfifo $mkfifo_dir/f; "
                             "(cat $mkfifo_dir/f) & echo $! $mkfifo_dir"},
                            kLimit);
  EXPECT_EQ(output.code, 0);
  const auto words = split_command(output.text);
  ASSERT_EQ(words.size(), 2U);
  run({"kill", words[0]}, kLimit);
  run({"rm", "-r", words[1]}, kLimit);
}

TEST(Command, ThatFailsIsAnErrorWithItsOwnMessage) {
  EXPECT_EQ(run_or_throw({"echo", "fine"}, kLimit).text, "fine\n");
  const auto message = [](const std::string& script) -> std::string {
    try {
      run_or_throw({"/bin/sh", "-c", script}, kLimit);
    } catch (const Error& error) {
      return error.text();
    }
    return "";
  };
  EXPECT_EQ(message("echo no such job >&2; exit 1"), "/bin/sh: no such job");
  EXPECT_EQ(message("exit 3"), "/bin/sh: it failed with exit code 3, and printed nothing");
}

TEST(Command, IsSplitAtSpaces) {
  EXPECT_EQ(split_command(" kubectl  --context=test -n a "),
            (std::vector<std::string>{"kubectl", "--context=test", "-n", "a"}));
}

}  // namespace
}  // namespace lp::launch

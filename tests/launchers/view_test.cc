// How a person watches nodes: in a debugger, and in panes.

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <string>

#include "tests/launchers/main_fixture.h"
#include "tests/launchers/on_terminal.h"

namespace lp::test {
namespace {

// The output of `command`.
std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  std::array<char, 4096> bytes;
  for (std::size_t got = 0; (got = fread(bytes.data(), 1, bytes.size(), pipe)) > 0;) text.append(bytes.data(), got);
  pclose(pipe);
  return text;
}

// A tmux server for this test alone.
class TmuxServer {
 public:
  explicit TmuxServer(const std::filesystem::path& directory) {
    setenv("TMUX_TMPDIR", directory.c_str(), 1);
    unsetenv("TMUX");
  }
  ~TmuxServer() {
    output_of("tmux kill-server");
    unsetenv("TMUX_TMPDIR");
  }
  TmuxServer(const TmuxServer&) = delete;
  TmuxServer& operator=(const TmuxServer&) = delete;
};

#if !defined(LP_SANITIZED)  // sanitizers and a debugger exclude each other
TEST_F(MainTest, ANodeRunsUnderTheDebugger) {
  OnTerminal program(arguments({with_processes(), "--debug=worker/1", "--heartbeat=1"}));
  ASSERT_TRUE(program.read_until("exited normally]")) << program.shown();
  program.type("quit\n");
  EXPECT_EQ(program.wait(), 0) << program.shown();
}
#endif

TEST_F(MainTest, ANodeToDebugMustBeAProcessAndExist) {
  Subprocess threads(arguments({"--debug=worker/1"}));
  EXPECT_EQ(threads.wait().code, 2);
  EXPECT_TRUE(has(threads.err(), "--debug has no effect with --launch=threads: it needs --launch=processes"))
      << threads.err();
  Subprocess nobody(arguments({with_processes(), "--debug=worker/7"}));
  EXPECT_EQ(nobody.wait().code, 2);
  EXPECT_TRUE(has(nobody.err(), "there is no node \"worker/7\" to debug")) << nobody.err();
}

TEST_F(MainTest, TmuxHasAPaneForEachNode) {
  const TmuxServer server(directory_);
  Subprocess program(arguments({with_processes(), "--mode=says that it waits", "--terminal=tmux"}));
  ASSERT_TRUE(program.read_until("shows the nodes")) << program.err();
  ASSERT_TRUE(program.read_until("waiting")) << program.err();
  const std::string panes = output_of("tmux list-panes -a -F '#{pane_start_command}'");
  for (const char* log : {"logs/counter.log", "logs/worker/0.log", "logs/worker/1.log"}) {
    EXPECT_TRUE(has(panes, log)) << panes;
  }
  program.kill(SIGINT);
  EXPECT_EQ(program.wait().code, 130);
}

}  // namespace
}  // namespace lp::test

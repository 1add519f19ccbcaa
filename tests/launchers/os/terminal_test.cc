#include "launchers/os/terminal.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <array>
#include <string>

#include "lp/base/descriptor.h"

namespace lp::launch {
namespace {

TEST(Terminal, AProgressLineStaysInOneRowOfANarrowTerminal) {
  int ours = -1;
  int theirs = -1;
  const winsize narrow{.ws_row = 4, .ws_col = 10, .ws_xpixel = 0, .ws_ypixel = 0};
  ASSERT_EQ(openpty(&ours, &theirs, nullptr, nullptr, &narrow), 0);
  const Descriptor reader(ours);
  const Descriptor writer(theirs);
  std::string shown;
  const auto read_until = [&](const std::string& end) {
    for (std::array<char, 1024> bytes{}; !shown.ends_with(end);) {
      const ssize_t got = read(ours, bytes.data(), bytes.size());
      ASSERT_GT(got, 0) << shown;
      shown.append(bytes.data(), static_cast<std::size_t>(got));
    }
  };
  {
    Terminal terminal({.out = theirs, .err = theirs});
    terminal.progress("worker/0: step 1  a-value-with-a-long-name 1");
    read_until("name 1\033[?7h");
    terminal.write(true, "a line\n");
    ASSERT_TRUE(terminal.flush(after(std::chrono::seconds(20))));
  }
  read_until("\r\n");  // behind the last progress line
  // The terminal does not wrap the line, so that clearing one row clears it.
  const std::string line = "\033[?7lworker/0: step 1  a-value-with-a-long-name 1\033[?7h";
  EXPECT_EQ(shown, line + "\r\033[Ka line\r\n" + line + "\r\n");
}

}  // namespace
}  // namespace lp::launch

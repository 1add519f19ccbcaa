// The page of lp report, made of invented events.

#include <gtest/gtest.h>

#include <string>

#include "tools/lp/report/report_page.h"

namespace lp::tool {
namespace {

TEST(ReportPage, NodesThatAreRestartedTogetherHaveARowTogether) {
  using Kind = RunEvent::Kind;
  const std::string together = "together with server/0 from the beginning";
  RunHistory history;
  history.events = {{.time = 5, .kind = Kind::failed, .node = "server/0", .text = "exited with code 3"},
                    {.time = 5.1, .kind = Kind::restarting, .node = "server/0", .text = "restart 1 of 2"},
                    {.time = 5.1, .kind = Kind::restarting, .node = "server/1", .text = together},
                    {.time = 5.2, .kind = Kind::starting, .node = "server/1"},
                    {.time = 5.2, .kind = Kind::restarting, .node = "server/2", .text = together},
                    {.time = 9, .kind = Kind::restarting, .node = "server/1", .text = together}};
  const std::string page = report_page(history);
  EXPECT_NE(page.find(">server/1, server/2</td><td class=\"text\">" + together), std::string::npos) << page;
  EXPECT_NE(page.find(">server/1</td><td class=\"text\">" + together), std::string::npos) << page;
}

}  // namespace
}  // namespace lp::tool

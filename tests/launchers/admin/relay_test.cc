// The lp command reaches the host of a launcher by the ssh that the run was given.

#include "launchers/admin/relay.h"

#include <gtest/gtest.h>

namespace lp::internal {
namespace {

using Words = std::vector<std::string>;

TEST(Relay, GoesByTheSshOfTheRun) {
  RunRecord record{.host = "h1", .binary = "/opt/my program", .directory = "/runs/a"};
  const Words options{"-T", "-oBatchMode=yes", "-oConnectTimeout=15", "--", "h1"};
  const std::string line = "'/opt/my program' '--lp-relay=/runs/a'";
  Words plain{"ssh"};
  plain.insert(plain.end(), options.begin(), options.end());
  plain.push_back(line);
  EXPECT_EQ(relay_by_ssh(record), plain);

  record.ssh = "ssh -F my_config";
  Words own{"ssh", "-F", "my_config"};
  own.insert(own.end(), options.begin(), options.end());
  own.push_back(line);
  EXPECT_EQ(relay_by_ssh(record), own);
}

}  // namespace
}  // namespace lp::internal

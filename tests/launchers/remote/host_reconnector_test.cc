// Hosts that were lost are dialed until they have an agent again; here this host stands for another one.

#include "launchers/remote/host_reconnector.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lp::internal {
namespace {

using std::chrono::milliseconds;

class RedialTest : public testing::Test {
 protected:
  // A host that runs each command of `before` instead, one at a dial, and then the requested one. Returns how often it
  // was dialed until it was there.
  std::size_t dials_until_there(const std::vector<std::vector<std::string>>& before, const RemoteOptions& options) {
    std::size_t dials = 0;
    EventLoop loop;
    std::optional<RemoteAgent> came;
    const auto command = [&](const HostSpec&, const std::string& line) {
      const std::size_t dial = dials++;
      return dial < before.size() ? before[dial] : std::vector<std::string>{"/bin/sh", "-c", line};
    };
    HostReconnector redial({{0, {{.name = "h0"}, command}}, {1, {{.name = "h1", .address = "127.0.0.1"}, command}}},
                           options, Executable());
    redial.attach(loop, [&](std::size_t host, RemoteAgent agent) {
      EXPECT_EQ(host, 1u);
      came = std::move(agent);
    });
    redial.dial(1);
    for (const Time end = after(std::chrono::seconds(30)); !came.has_value() && now() < end;) {
      loop.wait(std::min(redial.next(), end));
      redial.advance(now());
      loop.dispatch();
    }
    EXPECT_TRUE(came.has_value() && came->link->open());
    EXPECT_EQ(redial.next(), kNever);
    return dials;
  }
};

TEST_F(RedialTest, AHostThatRefusesIsDialedAgainAfterEachLease) {
  const Time begin = now();
  EXPECT_EQ(dials_until_there({{"false"}, {"no such program"}}, {.mark = "redial", .lease = milliseconds(40)}), 3u);
  EXPECT_GE(now() - begin, milliseconds(120));
}

TEST_F(RedialTest, AHostThatSaysNothingIsGivenUpAndDialedAgain) {
  EXPECT_GE(dials_until_there({{"sleep", "1000"}},
                              {.mark = "redial", .lease = milliseconds(10), .patience = std::chrono::seconds(2)}),
            2u);
}

}  // namespace
}  // namespace lp::internal

// Two hosts, as network namespaces with a cable between them: their processes call each other over it, encrypted, and
// on no shorter path, though they share a kernel.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lp/base/error.h"
#include "tests/faults/stranger_for_test.h"
#include "tests/launchers/tools_for_test.h"

namespace lp::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kNear = "10.9.8.1";
constexpr const char* kFar = "10.9.8.2";
const std::string kMarker = "attack at dawn";

std::string plug_in(const std::string& address) {
  return "ip link set lo up && ip addr add " + address + "/24 dev lp0 && ip link set lp0 up";
}

// One end of a pair of sockets, for lines.
class Line {
 public:
  explicit Line(int fd) : fd_(fd) {}
  ~Line() { close(fd_); }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  void say(const std::string& text) const { EXPECT_EQ(write(fd_, text.data(), text.size()), ssize_t(text.size())); }
  std::string hear() const {  // empty: the other side has ended
    std::array<char, 1000> text{};
    const ssize_t size = read(fd_, text.data(), text.size());
    return std::string(text.data(), size < 0 ? 0 : static_cast<std::size_t>(size));
  }

 private:
  int fd_;
};

// Records all bytes on the cable.
class Tap {
 public:
  Tap() : fd_(socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, htons(ETH_P_ALL))) {
    sockaddr_ll link{};
    link.sll_family = AF_PACKET;
    link.sll_protocol = htons(ETH_P_ALL);
    link.sll_ifindex = static_cast<int>(if_nametoindex("lp0"));
    EXPECT_EQ(bind(fd_, reinterpret_cast<const sockaddr*>(&link), sizeof link), 0);
  }
  ~Tap() { close(fd_); }
  Tap(const Tap&) = delete;
  Tap& operator=(const Tap&) = delete;
  std::string seen() const {
    std::string all;
    std::array<char, 70'000> packet{};
    for (ssize_t size = 0; (size = recv(fd_, packet.data(), packet.size(), 0)) > 0;) {
      all.append(packet.data(), static_cast<std::size_t>(size));
    }
    return all;
  }

 private:
  int fd_;
};

// The near host, in this process, which has a namespace of its own; the far one is a child process in another.
class TwoHosts {
 public:
  TwoHosts() {
    std::array<int, 2> ends{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
    child_ = fork();
    if (child_ == 0) {
      close(ends[0]);
      be_far_host(Line(ends[1]));
      _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    close(ends[1]);
    far_.emplace(ends[0]);
    EXPECT_EQ(far_->hear(), "here");
    const std::string cable = "ip link add lp0 type veth peer name lp0 netns " + std::to_string(child_);
    EXPECT_EQ(std::system((cable + " && " + plug_in(kNear)).c_str()), 0);
    far_->say("linked");
    endpoint_ = far_->hear();
  }
  ~TwoHosts() {
    far_.reset();  // this ends it
    int status = 0;
    waitpid(child_, &status, 0);
    EXPECT_EQ(status, 0);
  }
  TwoHosts(const TwoHosts&) = delete;
  TwoHosts& operator=(const TwoHosts&) = delete;

  const Program& program() const { return program_; }
  const std::string& endpoint() const { return endpoint_; }  // the endpoint of the service on the far host
  std::string refused() const {                              // refused calls, counted by the far host
    far_->say("how many were refused?");
    return far_->hear();
  }
  Runtime::Options options() const { return options(kNear, near_keys_); }
  void introduce(Runtime& near) const {
    const std::vector<PeerState> peers{
        {.node = 0, .incarnation = 1, .endpoint = endpoint_, .key = far_keys_.public_key}};
    near.update(peers);
  }

 private:
  Runtime::Options options(const std::string& address, const CurveKeys& keys) const {
    Runtime::Options options{.run = {.name = "far"}, .network = true};
    options.process.listen = address;
    options.process.keys = keys;
    options.run.outside_key = near_keys_.public_key;
    options.run.token = "secret";
    return options;
  }

  void be_far_host(const Line& near) const {
    ASSERT_EQ(unshare(CLONE_NEWNET), 0);
    near.say("here");
    near.hear();
    ASSERT_EQ(std::system(plug_in(kFar).c_str()), 0);
    Nobody observer;
    Runtime server(program_, options(kFar, far_keys_), observer);
    server.start(0, 1);
    ASSERT_TRUE(observer.ready.wait(after(seconds(10))));
    near.say(server.endpoint());
    while (!near.hear().empty()) near.say(std::to_string(server.refused()));
  }

  const CurveKeys near_keys_ = make_curve_keys();
  const CurveKeys far_keys_ = make_curve_keys();
  const Program program_ = make_services({.nodes = 1});
  pid_t child_ = -1;
  std::optional<Line> far_;
  std::string endpoint_;
};

// Runs the current test again in a namespace of its own, and there `body` with the two hosts.
template <class F>
void on_two_hosts(F body) {
  constexpr const char* kInside = "LP_TEST_IN_NAMESPACE";
  if (std::getenv(kInside) != nullptr) {
    const TwoHosts hosts;
    body(hosts);
    return;
  }
  if (command("unshare -Urn ip link add type veth").code != 0) {
    GTEST_SKIP() << "this system does not let its users make network namespaces and a cable (`unshare -Urn`, `ip`)";
  }
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
  const Ended ended = command("timeout -k 5 60 env " + std::string(kInside) + "=1 unshare -Urn '" + self +
                              "' --gtest_filter=TwoHosts." + test);
  EXPECT_EQ(ended.code, 0) << ended.output;
  EXPECT_NE(ended.output.find("[  PASSED  ] 1 test"), std::string::npos) << ended.output;
}

TEST(TwoHosts, CallOneAnotherEncrypted) {
  on_two_hosts([](const TwoHosts& hosts) {
    EXPECT_EQ(hosts.endpoint().rfind("tcp://10.9.8.2:", 0), 0u) << hosts.endpoint();
    const Tap tap;
    Nobody nobody;
    Runtime near(hosts.program(), hosts.options(), nobody);
    hosts.introduce(near);
    const auto client = near.client(Handle<Service>("service/0")).within(seconds(10));
    std::vector<std::uint8_t> bytes;
    while (bytes.size() < 100'000) bytes.insert(bytes.end(), kMarker.begin(), kMarker.end());
    EXPECT_EQ(client.call<&Service::size>(Array<std::uint8_t>::copy_of(bytes)), bytes.size());
    const std::string seen = tap.seen();
    EXPECT_NE(seen.find("CURVE"), std::string::npos);
    EXPECT_GT(seen.size(), bytes.size());
    EXPECT_EQ(seen.find(kMarker), std::string::npos);
    EXPECT_EQ(seen.find("secret"), std::string::npos);
  });
}

TEST(TwoHosts, TakeNothingThatIsNotEncrypted) {
  on_two_hosts([](const TwoHosts& hosts) {
    Stranger plain(hosts.endpoint().substr(0, hosts.endpoint().find(' ')), {});
    plain.send(hello_packet({.run = "far", .token = "secret", .fingerprint = hosts.program().fingerprint()}));
    std::string refused = "0";
    for (const Time end = after(seconds(20)); refused == "0" && now() < end;) refused = hosts.refused();
    EXPECT_NE(refused, "0");
    EXPECT_FALSE(plain.receive(milliseconds(500)).has_value());
  });
}

// They share a kernel, so memory could be passed between them if their namespaces did not differ.
TEST(TwoHosts, ShareNoMemory) {
  on_two_hosts([](const TwoHosts& hosts) {
    Runtime::Options wants_memory = hosts.options();
    wants_memory.run.path = Path::shm;
    Nobody nobody;
    Runtime near(hosts.program(), wants_memory, nobody);
    hosts.introduce(near);
    const auto client = near.client(Handle<Service>("service/0")).within(seconds(1));
    EXPECT_THROW((client.call<&Service::add>(1, 2)), Error);
  });
}

}  // namespace
}  // namespace lp::test

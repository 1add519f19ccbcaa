// How the way to a process is found when the process there does not answer, because it is stopped for instance.

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "lp/lp.h"
#include "lp/rpc/handshake.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

class Adder {
 public:
  int add(int a, int b) { return a + b; }
  using Remote = Methods<&Adder::add>;
};

// One of two services is in a process whose shared memory nobody answers for.
class Dial : public testing::Test {
 protected:
  Dial() : silent_(program_.add<Adder>({.name = "silent"})), other_(program_.add<Adder>({.name = "other"})) {}

  static Runtime::Options options() {
    Runtime::Options options;
    options.run = "test";
    options.token = "secret";
    options.network = true;
    options.deadline = std::chrono::seconds(20);
    return options;
  }
  void tell() {
    const std::string there = serving_.runtime().endpoint();
    const std::vector<PeerState> news{
        {.node = 0, .incarnation = 1, .endpoint = there.substr(0, there.find(' ')) + " shm://" + name_},
        {.node = 1, .incarnation = 1, .endpoint = there}};
    calling_.runtime().update(news);
  }

  Program program_{"dial"};
  Handle<Adder> silent_, other_;
  LocalRun serving_{program_, options()};
  LocalRun calling_{program_, options(), LocalRun::kNothingHere};
  const std::string name_ = "silent-" + std::to_string(getpid());
  Descriptor listening_ = internal::listen_locally(name_);
};

TEST_F(Dial, ANeighbourThatDoesNotAnswerDelaysNoNewsOfOthers) {
  Future<int> held = calling_.client(silent_).async<&Adder::add>(1, 2);
  tell();
  EXPECT_EQ(calling_.client(other_).call<&Adder::add>(3, 4), 7);
  EXPECT_FALSE(held.ready());
  // The dialer has introduced itself, and still waits for the answer.
  const auto dialer = internal::accept_neighbour(listening_);
  ASSERT_TRUE(dialer.has_value());
  const internal::Introduction introduction = internal::receive_memory(*dialer, /*dialed=*/true);
  EXPECT_NE(introduction.lanes.data(), nullptr);
  char more = 0;
  EXPECT_EQ(recv(dialer->number(), &more, 1, MSG_DONTWAIT), -1);
  EXPECT_EQ(errno, EAGAIN);
}

TEST_F(Dial, WhoDoesNotAnswerIsReachedByTcp) {
  tell();
  EXPECT_EQ(calling_.client(silent_).call<&Adder::add>(1, 2), 3);
}

TEST_F(Dial, ANodeThatHasGoneMeanwhileStaysGone) {
  tell();
  const PeerState gone{.node = 0, .incarnation = 1, .gone = true, .text = "it has ended"};
  calling_.runtime().update(std::span(&gone, 1));
  try {
    calling_.client(silent_).call<&Adder::add>(1, 2);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::disconnected);
    EXPECT_EQ(error.text(), "it has ended");
  }
  EXPECT_EQ(calling_.client(other_).call<&Adder::add>(3, 4), 7);
}

}  // namespace
}  // namespace lp

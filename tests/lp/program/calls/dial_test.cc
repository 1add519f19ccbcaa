// How the path to a process is found when the process does not answer, for example because it is stopped.

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <functional>
#include <string>
#include <vector>

#include "lp/lp.h"
#include "lp/rpc/shm/handshake.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

class DialledAdder {
 public:
  int add(int a, int b) { return a + b; }
  using Remote = Methods<&DialledAdder::add>;
};

// One of two services is in a process whose shared memory nobody answers for.
class Dial : public testing::Test {
 protected:
  Dial()
      : silent_(program_.add<DialledAdder>({.name = "silent"})),
        other_(program_.add<DialledAdder>({.name = "other"})) {}

  static Runtime::Options options() {
    Runtime::Options options;
    options.run.name = "test";
    options.run.token = "secret";
    options.network = true;
    options.run.deadline = std::chrono::seconds(20);
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
  Handle<DialledAdder> silent_, other_;
  LocalRun serving_{program_, options()};
  LocalRun calling_{program_, options(), LocalRun::kNothingHere};
  const std::string name_ = "silent-" + std::to_string(getpid());
  Descriptor listening_ = rpc::listen_locally(name_);
};

TEST_F(Dial, ANeighbourThatDoesNotAnswerDelaysNoNewsOfOthers) {
  Future<int> held = calling_.client(silent_).async<&DialledAdder::add>(1, 2);
  tell();
  EXPECT_EQ(calling_.client(other_).call<&DialledAdder::add>(3, 4), 7);
  EXPECT_FALSE(held.ready());
  // The dialer has introduced itself, and still waits for the answer.
  const auto dialer = rpc::accept_neighbour(listening_);
  ASSERT_TRUE(dialer.has_value());
  const rpc::Introduction introduction = rpc::receive_memory(*dialer, /*dialed=*/true);
  EXPECT_NE(introduction.lanes.data(), nullptr);
  char more = 0;
  EXPECT_EQ(recv(dialer->number(), &more, 1, MSG_DONTWAIT), -1);
  EXPECT_EQ(errno, EAGAIN);
}

TEST_F(Dial, WhoDoesNotAnswerIsReachedByTcp) {
  tell();
  EXPECT_EQ(calling_.client(silent_).call<&DialledAdder::add>(1, 2), 3);
}

TEST_F(Dial, ANodeThatHasGoneMeanwhileStaysGone) {
  tell();
  const PeerState gone{.node = 0, .incarnation = 1, .gone = true, .text = "it has ended"};
  calling_.runtime().update(std::span(&gone, 1));
  try {
    calling_.client(silent_).call<&DialledAdder::add>(1, 2);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::disconnected);
    EXPECT_EQ(error.text(), "it has ended");
  }
  EXPECT_EQ(calling_.client(other_).call<&DialledAdder::add>(3, 4), 7);
}

// Malformed bytes end a connection, and calls use the next one.
TEST_F(Dial, WhoSaidWhatIsNotUnderstoodIsDialedAgain) {
  const auto heap = SharedMemory::create("heap", 1 << 20);
  const auto own_bell = SharedMemory::create("bell", sizeof(rpc::Doorbell));
  ::new (own_bell.data()) rpc::Doorbell;
  Poller poller;
  poller.add(listening_.number(), 0);
  std::array<Poller::Ready, 1> ready;
  tell();
  using Said = std::function<void(rpc::RingPair&)>;
  const std::vector<Said> nonsense{[](auto& lanes) { lanes.to_dialer.written = std::uint64_t{1} << 40; },
                                   [](auto& lanes) { lanes.back_to_dialer.given = std::uint64_t{1} << 40; },
                                   [](auto& lanes) { lanes.back_to_dialer.given = 1; }};  // returns more than it had
  for (const Said& say : nonsense) {
    ASSERT_EQ(poller.wait(ready, after(std::chrono::seconds(20))), 1u);
    const auto dialer = rpc::accept_neighbour(listening_);
    ASSERT_TRUE(dialer.has_value());
    Poller introduced;
    introduced.add(dialer->number(), 0);
    ASSERT_EQ(introduced.wait(ready, after(std::chrono::seconds(20))), 1u);
    rpc::Introduction introduction = rpc::receive_memory(*dialer, /*dialed=*/true);
    rpc::send_memory(dialer->number(), 0, nullptr, own_bell, heap);
    const Future<int> held = calling_.client(silent_).async<&DialledAdder::add>(1, 2);
    say(*reinterpret_cast<rpc::RingPair*>(introduction.lanes.data()));
    // Waits until it looks, and hangs up.
    while (introduced.wait(ready, now()) == 0) {
      reinterpret_cast<rpc::Doorbell*>(introduction.neighbour.bell.data())->ring(introduction.lane);
      introduced.wait(ready, after(std::chrono::milliseconds(10)));
    }
  }
}

// A process that is stopped, or dies, in the middle of ringing has taken the sleeper's word but not woken it.
TEST_F(Dial, ALostRingIsMadeUpFor) {
  const std::string there = serving_.runtime().endpoint();
  const Descriptor socket = rpc::connect_locally(there.substr(there.find("shm://") + 6));
  const SharedMemory lanes = SharedMemory::create("lanes", sizeof(rpc::RingPair));
  auto* const pair = ::new (lanes.data()) rpc::RingPair;
  const SharedMemory own_bell = SharedMemory::create("bell", sizeof(rpc::Doorbell));
  ::new (own_bell.data()) rpc::Doorbell;
  const SharedMemory heap = SharedMemory::create("heap", 1 << 20);
  rpc::send_memory(socket.number(), 0, &lanes, own_bell, heap);
  Poller poller;
  poller.add(socket.number(), 0);
  std::array<Poller::Ready, 1> ready;
  ASSERT_EQ(poller.wait(ready, after(std::chrono::seconds(20))), 1u);
  const rpc::Introduction answer = rpc::receive_memory(socket, /*dialed=*/false);

  auto& bell = *reinterpret_cast<rpc::Doorbell*>(answer.neighbour.bell.data());
  pair->to_dialed.written = std::uint64_t{1} << 40;  // a reader hangs up
  bell.asleep = 0;
  bell.mark(answer.lane);
  ASSERT_EQ(poller.wait(ready, after(std::chrono::seconds(20))), 1u);
  char more = 0;
  EXPECT_EQ(recv(socket.number(), &more, 1, MSG_DONTWAIT), 0);
}

}  // namespace
}  // namespace lp

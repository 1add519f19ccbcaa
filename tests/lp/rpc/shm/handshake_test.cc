// How two processes of a host connect, and which peers are refused.

#include "lp/rpc/shm/handshake.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "lp/base/error.h"

namespace lp::internal {
namespace {

std::size_t descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

class Handshake : public ::testing::Test {
 protected:
  Handshake() {
    static int count = 0;
    const std::string name = "test-" + std::to_string(getpid()) + "-" + std::to_string(++count);
    listening_ = listen_locally(name);
    dialer_ = connect_locally(name);
    dialed_ = std::move(*accept_neighbour(listening_));
  }

  // Sends a greeting of these bytes with these descriptors, as no honest process would.
  void greet(const std::string& bytes, const std::vector<int>& numbers) {
    std::string text = bytes;
    iovec part{.iov_base = text.data(), .iov_len = text.size()};
    std::vector<char> room(CMSG_SPACE(numbers.size() * sizeof(int)));
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (!numbers.empty()) {
      message.msg_control = room.data();
      message.msg_controllen = room.size();
      cmsghdr* const control = CMSG_FIRSTHDR(&message);
      control->cmsg_level = SOL_SOCKET;
      control->cmsg_type = SCM_RIGHTS;
      control->cmsg_len = CMSG_LEN(numbers.size() * sizeof(int));
      std::memcpy(CMSG_DATA(control), numbers.data(), numbers.size() * sizeof(int));
    }
    ASSERT_GE(sendmsg(dialer_.number(), &message, MSG_NOSIGNAL), 0);
  }
  void expect_refused(const std::string& bytes, const std::vector<int>& numbers) {
    const std::size_t before = descriptors();
    greet(bytes, numbers);
    EXPECT_THROW(receive_memory(dialed_, /*dialed=*/true), Error) << numbers.size();
    EXPECT_EQ(descriptors(), before) << numbers.size();
  }

  Descriptor listening_, dialer_, dialed_;
  SharedMemory lanes_ = SharedMemory::create("lanes", sizeof(RingPair));
  SharedMemory bell_ = SharedMemory::create("bell", sizeof(Doorbell));
  SharedMemory heap_ = SharedMemory::create("heap", 1 << 20);
  const std::string good_{"lsm1\5\0\0\0", 8};
};

TEST_F(Handshake, EachSideGetsTheOthersMemory) {
  lanes_.data()[100] = std::byte{1};
  heap_.data()[100] = std::byte{2};
  send_memory(dialer_.number(), 7, &lanes_, bell_, heap_);
  const Introduction at_dialed = receive_memory(dialed_, /*dialed=*/true);
  EXPECT_EQ(at_dialed.lane, 7u);
  EXPECT_EQ(at_dialed.lanes.data()[100], std::byte{1});
  EXPECT_EQ(at_dialed.neighbour.heap.data()[100], std::byte{2});
  send_memory(dialed_.number(), 3, nullptr, bell_, heap_);
  const Introduction at_dialer = receive_memory(dialer_, /*dialed=*/false);
  EXPECT_EQ(at_dialer.lane, 3u);
  EXPECT_EQ(at_dialer.lanes.data(), nullptr);
}

TEST_F(Handshake, OneThatSaysNothingIsNotWaitedFor) {
  EXPECT_THROW(receive_memory(dialed_, /*dialed=*/true), Error);
  dialer_ = Descriptor();
  EXPECT_THROW(receive_memory(dialed_, /*dialed=*/true), Error);
}

TEST_F(Handshake, AnotherProtocolIsRefused) {
  expect_refused("GET / HTTP/1.1\r\n", {});
  expect_refused("lsm1", {});
  expect_refused(std::string(100'000, 'x'), {});
}

TEST_F(Handshake, TooFewOrTooManyDescriptorsAreRefusedAndClosed) {
  const int bell = bell_.descriptor().number();
  for (const std::size_t count : {0UL, 1UL, 2UL, 4UL, 5UL, 100UL}) expect_refused(good_, std::vector(count, bell));
}

TEST_F(Handshake, DescriptorsOfWhatIsNotSuchMemoryAreRefusedAndClosed) {
  const int bell = bell_.descriptor().number();
  const int lanes = lanes_.descriptor().number();
  expect_refused(good_, {STDERR_FILENO, bell, bell});
  expect_refused(good_, {bell, bell, bell});  // too small for lanes
  expect_refused(good_, {lanes, lanes, listening_.number()});
}

TEST_F(Handshake, ALaneThatNoBellHasIsRefused) {
  const int bell = bell_.descriptor().number();
  expect_refused(std::string("lsm1\xff\xff\xff\xff", 8), {lanes_.descriptor().number(), bell, bell});
}

}  // namespace
}  // namespace lp::internal

#include "launchers/agent/launcher_link.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

namespace lp::launch {
namespace {

using Bytes = std::vector<std::uint8_t>;

class LauncherLinkTest : public testing::Test {
 protected:
  void open(std::optional<Duration> lease) {
    const SocketPair ends = make_socket_pair();
    launcher_ = std::make_unique<MessageStream>(ends.ours, kSmallMessages);
    link_ = std::make_unique<LauncherLink>(ends.theirs, ends.theirs, lease, poller_,
                                           [this](auto bytes) { got_.emplace_back(bytes.begin(), bytes.end()); });
  }
  // Serves the link once, as an agent does.
  void serve() {
    std::array<Poller::Ready, 1> ready;
    if (poller_.wait(ready, std::min(link_->lease_end(), after(std::chrono::seconds(20)))) > 0)
      link_->on_ready(ready[0]);
    link_->advance();
  }

  Poller poller_;
  std::unique_ptr<MessageStream> launcher_;
  std::unique_ptr<LauncherLink> link_;
  std::vector<Bytes> got_;
};

TEST_F(LauncherLinkTest, HandlesEachMessageAndSendsAnswers) {
  open(std::nullopt);
  launcher_->send(Bytes{1, 2});
  launcher_->send(Bytes{3});
  serve();
  EXPECT_EQ(got_, (std::vector<Bytes>{{1, 2}, {3}}));
  link_->send(Bytes{4});
  std::vector<Bytes> answers;
  std::string fault;
  EXPECT_TRUE(launcher_->receive([&](auto bytes) { answers.emplace_back(bytes.begin(), bytes.end()); }, fault));
  EXPECT_EQ(answers, (std::vector<Bytes>{{4}}));
  EXPECT_EQ(link_->lease_end(), kNever);
}

TEST_F(LauncherLinkTest, EndsWithItsConnection) {
  open(std::nullopt);
  EXPECT_TRUE(link_->open());
  launcher_.reset();
  serve();
  EXPECT_FALSE(link_->open());
}

TEST_F(LauncherLinkTest, EndsWithItsLeaseWhichBeginsAnewWithEachMessage) {
  open(std::chrono::milliseconds(20));
  const Time first = link_->lease_end();
  EXPECT_GT(first, after(std::chrono::minutes(1)));  // the launcher still starts other agents
  launcher_->send(Bytes{1});
  serve();
  EXPECT_LT(link_->lease_end(), first);
  while (link_->open()) serve();
  EXPECT_GE(now(), link_->lease_end());
}

TEST_F(LauncherLinkTest, WhatTheLauncherDoesNotReadWaits) {
  open(std::nullopt);
  const Bytes large(std::size_t{1} << 20);
  while (link_->pending() == 0) link_->send(large);
  link_->advance();
  Bytes last{7};
  link_->send(last);
  std::vector<Bytes> answers;
  while (answers.empty() || answers.back() != last) {
    std::string fault;
    ASSERT_TRUE(launcher_->receive([&](auto bytes) { answers.emplace_back(bytes.begin(), bytes.end()); }, fault))
        << fault;
    if (link_->pending() > 0) serve();
  }
  EXPECT_EQ(link_->pending(), 0U);
}

}  // namespace
}  // namespace lp::launch

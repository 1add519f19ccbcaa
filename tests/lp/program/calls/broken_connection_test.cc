// A connection by TCP that ends although both of its processes live on, as when the network fails.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "lp/lp.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

constexpr auto kAnswerTime = std::chrono::seconds(20);

// Answers a question only when it is asked again.
class Reluctant {
 public:
  explicit Reluctant(Event* asked) : asked_(*asked) {}
  Future<int> ask() {
    if (++times_ > 1) return ready(times_);
    asked_.set();
    return unanswered_.future();
  }
  using Remote = Methods<idempotent<&Reluctant::ask>>;

 private:
  Event& asked_;
  int times_ = 0;
  Promise<int> unanswered_;
};

// Ends the connections of this process to that port, at the end that has dialed.
int cut_connections(int port) {
  int cut = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int descriptor = std::stoi(entry.path().filename());
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &size) != 0 || peer.sin_family != AF_INET) continue;
    if (ntohs(peer.sin_port) == port && shutdown(descriptor, SHUT_RDWR) == 0) ++cut;
  }
  return cut;
}

TEST(BrokenConnection, ACallGoesOnOverTheNextOne) {
  Event asked;
  Program program("reluctant");
  const auto reluctant = program.add<Reluctant>({.name = "reluctant"}, &asked);
  Runtime::Options options;
  options.run.name = "test";
  options.run.token = "secret";
  options.run.deadline = kAnswerTime;
  options.run.path = Path::tcp;
  options.network = true;
  LocalRun serving(program, options);
  LocalRun calling(program, options, LocalRun::kNothingHere);
  const std::string there = serving.runtime().endpoint();
  const PeerState news{.node = 0, .incarnation = 1, .endpoint = there};
  calling.runtime().update(std::span(&news, 1));

  Future<int> answer = calling.client(reluctant).async<&Reluctant::ask>();
  ASSERT_TRUE(asked.wait(after(kAnswerTime)));
  EXPECT_EQ(cut_connections(std::stoi(there.substr(there.rfind(':') + 1))), 1);
  EXPECT_EQ(answer.get(), 2);
}

}  // namespace
}  // namespace lp

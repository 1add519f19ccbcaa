// Handlers that wait for one another end by their deadline, whose text names the handlers and their order.

#include <gtest/gtest.h>

#include <mutex>
#include <string>

#include "lp/lp.h"
#include "tests/lp/program/on_each_path.h"

namespace lp {
namespace {

constexpr Duration kAllowed = std::chrono::seconds(1);  // the first time; on a busy machine, more is needed
constexpr Duration kLongest = std::chrono::seconds(16);

struct Meeting {
  Event service_is_in{};
  Event other_is_in{};
  std::mutex mutex{};
  std::string said{};  // by the first call that ends
};

class Side {
 public:
  Side(Client<Side> other, Meeting* meeting, bool first) : other_(other), meeting_(*meeting), first_(first) {}

  void ready() {}
  void meet() {
    (first_ ? meeting_.service_is_in : meeting_.other_is_in).set();
    (first_ ? meeting_.other_is_in : meeting_.service_is_in).wait(after(kLongest));
    try {
      other_.call<&Side::hello>();
    } catch (const Error& error) {
      const std::lock_guard lock(meeting_.mutex);
      if (meeting_.said.empty()) meeting_.said = error.text();
      throw;
    }
  }
  void hello() {}
  using Remote = Methods<&Side::ready, &Side::meet, &Side::hello>;

 private:
  Client<Side> other_;
  Meeting& meeting_;
  bool first_;
};

class Circle : public ::testing::TestWithParam<Reach> {
 protected:
  // The other node, which the service reaches, too.
  void SetUp() override {
    const bool together = &run_.calling() == &run_.serving();
    run_.calling().start_one("other", 1, /*others=*/together ? 1 : 0);
    if (together) return;
    const PeerState state{
        .node = *program_.find("other"), .incarnation = 1, .endpoint = run_.calling().runtime().endpoint()};
    run_.serving().runtime().update(std::span(&state, 1));
  }

  // Whose time is over first lets the other go on.
  static void meet(const Client<Side>& side, Duration allowed) {
    try {
      side.within(allowed).call<&Side::meet>();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::deadline) << error.what();
    }
  }

  Meeting meeting_;
  Program program_{"circle"};
  const Handle<Side> service_ = program_.add<Side>({.name = "service"}, Handle<Side>("other"), &meeting_, true);
  const Handle<Side> other_ = program_.add<Side>({.name = "other"}, service_, &meeting_, false);
  ReachedRun run_{program_, GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Paths, Circle, kEachPath, reach_name);

TEST_P(Circle, IsNamedAtTheDeadline) {
  const Client<Side> service = run_.client(service_);
  const Client<Side> other = run_.calling().client(other_);
  service.call<&Side::ready>();  // both are reached
  other.call<&Side::ready>();
  for (Duration allowed = kAllowed; allowed <= kLongest && meeting_.said.find("circle") == std::string::npos;
       allowed *= 2) {
    meeting_.said.clear();
    const Thread one = spawn("one", [&] { meet(service, allowed); });
    const Thread two = spawn("two", [&] { meet(other, allowed); });
  }
  const bool of_service = meeting_.said.find("; other has been in meet() for ") != std::string::npos;
  EXPECT_TRUE(of_service || meeting_.said.find("; service has been in meet() for ") != std::string::npos)
      << meeting_.said;
  const std::string from = of_service ? "service" : "other";
  EXPECT_TRUE(
      meeting_.said.ends_with(", and waits there for " + from + ".hello(): they wait for one another, in a circle"))
      << meeting_.said;
}

}  // namespace
}  // namespace lp

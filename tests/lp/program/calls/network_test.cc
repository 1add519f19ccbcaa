// Calls between processes: two runtimes that meet over TCP, like two processes of a run. One of them may die and come
// back as its next incarnation.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "lp/lp.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

class Store {
 public:
  int add(int a, int b) { return a + b; }
  Array<float> scaled(Array<float> values, float by) {
    for (float& value : values.edit()) value *= by;
    return values;
  }
  int calls() { return ++calls_; }
  int fail() { throw std::invalid_argument("no such key"); }
  Future<int> never() {
    waiting_.emplace_back();
    return waiting_.back().future();
  }
  Stream<int> count(int n) {
    for (int i = 0; i < n; ++i) co_yield i;
  }
  using Remote = Methods<&Store::add, &Store::scaled, &Store::calls, &Store::fail, &Store::never, &Store::count>;

 private:
  int calls_ = 0;
  std::vector<Promise<int>> waiting_;
};

// The store in one "process", its callers in another.
class Network : public ::testing::Test {
 protected:
  Network() : program_("network"), store_(program_.add<Store>({.name = "store"})) {}

  static Runtime::Options options(const std::string& token = "secret") {
    Runtime::Options options;
    options.run.name = "test";
    options.run.token = token;
    options.network = true;
    options.run.deadline = std::chrono::seconds(20);
    return options;
  }

  // Starts an incarnation of the store and notifies the callers.
  void start(std::uint32_t incarnation) {
    serving_ = std::make_unique<LocalRun>(program_, options(), incarnation);
    tell({.node = 0, .incarnation = incarnation, .endpoint = serving_->runtime().endpoint()});
  }
  // Does what the supervisor does when a process died: it answers nothing any more.
  void kill(std::uint32_t incarnation) {
    tell({.node = 0, .incarnation = incarnation});
    serving_.reset();
  }
  void tell(const PeerState& state) { calling_.runtime().update(std::span(&state, 1)); }
  Client<Store> client() { return calling_.client(store_); }

  Program program_;
  Handle<Store> store_;
  LocalRun calling_{program_, options(), LocalRun::kNothingHere};
  std::unique_ptr<LocalRun> serving_;
};

TEST_F(Network, CallsTravel) {
  start(1);
  EXPECT_EQ(client().call<&Store::add>(2, 3), 5);
  Array<float> values(100'000);
  values.edit()[99'999] = 2;
  const Array<float> scaled = client().call<&Store::scaled>(values, 3);
  EXPECT_EQ(scaled.size(), values.size());
  EXPECT_EQ(scaled[99'999], 6);
  EXPECT_EQ(values[99'999], 2);
  EXPECT_EQ(client().call<&Store::scaled>(Array<float>(), 3).size(), 0u);
  std::vector<Future<int>> many;
  for (int i = 0; i < 1000; ++i) many.push_back(client().async<&Store::add>(i, i));
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(many[static_cast<std::size_t>(i)].get(), 2 * i);
}

TEST_F(Network, ErrorsTravelWithTheirTypeAndPlace) {
  start(1);
  try {
    client().call<&Store::fail>();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::failed);
    EXPECT_EQ(error.node(), "store");
    EXPECT_EQ(error.method(), "fail");
    EXPECT_EQ(error.origin().type, "std::invalid_argument");
    EXPECT_EQ(error.text(), "no such key");
  }
}

TEST_F(Network, StreamsTravelWithBackPressure) {
  start(1);
  int expected = 0;
  for (const int item : client().stream<&Store::count>(500)) ASSERT_EQ(item, expected++);
  EXPECT_EQ(expected, 500);
  { EXPECT_EQ(client().stream<&Store::count>(1'000'000'000).next(), 0); }
  EXPECT_EQ(client().call<&Store::add>(1, 1), 2);
}

TEST_F(Network, ACallWaitsForANodeThatIsNotUpYet) {
  auto early = client().async<&Store::add>(1, 2);
  EXPECT_FALSE(early.ready());
  start(1);
  EXPECT_EQ(early.get(), 3);
}

TEST_F(Network, ADeadlineEndsACallThatNobodyAnswers) {
  start(1);
  EXPECT_EQ(client().call<&Store::add>(1, 2), 3);  // it is reached
  try {
    client().within(std::chrono::milliseconds(30)).call<&Store::never>();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::deadline);
    EXPECT_TRUE(error.may_have_run());
  }
}

TEST_F(Network, APlainCallInFlightWhenItsServiceDiesIsDisconnectedAndTheNextOneWaits) {
  start(1);
  auto lost = client().async<&Store::never>();
  EXPECT_EQ(client().call<&Store::add>(1, 1), 2);  // the first has been taken
  kill(1);
  try {
    lost.get();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::disconnected);
    EXPECT_TRUE(error.may_have_run());
  }
  auto held = client().async<&Store::calls>();
  start(2);
  EXPECT_EQ(held.get(), 1);
}

TEST_F(Network, ANodeThatWillNotComeBackFailsItsCallersAtOnce) {
  auto held = client().async<&Store::add>(1, 2);
  tell({.node = 0, .incarnation = 1, .gone = true, .text = "its budget of restarts is used up"});
  EXPECT_THROW(held.get(), Error);
  EXPECT_THROW(client().call<&Store::add>(1, 2), Error);
}

TEST_F(Network, AStrangerIsRefusedWithASentence) {
  start(1);
  LocalRun stranger(program_, options("another secret"), LocalRun::kNothingHere);
  const PeerState state{.node = 0, .incarnation = 1, .endpoint = serving_->runtime().endpoint()};
  stranger.runtime().update(std::span(&state, 1));
  try {
    stranger.client(store_).call<&Store::add>(1, 2);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.text().find("secret"), std::string::npos) << error.what();
  }
  EXPECT_THROW(stranger.client(store_).call<&Store::add>(1, 2), Error) << "and what it calls later, too";
}

class OtherStore {
 public:
  int add(int a, int b, int c) { return a + b + c; }
  using Remote = Methods<&OtherStore::add>;
};

TEST_F(Network, AnotherBuildOfTheProgramIsRefusedWithASentence) {
  start(1);
  Program other("network");
  const auto handle = other.add<OtherStore>({.name = "store"});
  LocalRun stranger(other, options(), LocalRun::kNothingHere);
  const PeerState state{.node = 0, .incarnation = 1, .endpoint = serving_->runtime().endpoint()};
  stranger.runtime().update(std::span(&state, 1));
  try {
    stranger.client(handle).call<&OtherStore::add>(1, 2, 3);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.text().find("another version"), std::string::npos) << error.what();
  }
}

// Calls the store from inside the program.
class NetworkRelay {
 public:
  explicit NetworkRelay(Client<Store> store) : store_(store) {}
  int add(int a, int b) { return store_.call<&Store::add>(a, b); }
  using Remote = Methods<&NetworkRelay::add>;

 private:
  Client<Store> store_;
};

TEST(Fencing, AnIncarnationThatWasReplacedIsRefused) {
  Program program("fencing");
  const auto store = program.add<Store>({.name = "store"});
  const auto relay = program.add<NetworkRelay>({.name = "relay"}, store);
  Runtime::Options options;
  options.run.name = "test";
  options.network = true;
  LocalRun serving(program, options, LocalRun::kNothingHere);
  serving.start_one("store", 1);
  const PeerState where{.node = 0, .incarnation = 1, .endpoint = serving.runtime().endpoint()};

  LocalRun old(program, options, LocalRun::kNothingHere);
  LocalRun replacement(program, options, LocalRun::kNothingHere);
  for (LocalRun* run : {&old, &replacement}) run->runtime().update(std::span(&where, 1));
  old.start_one("relay", 1);
  EXPECT_EQ(old.client(relay).call<&NetworkRelay::add>(1, 2), 3);
  replacement.start_one("relay", 2);
  EXPECT_EQ(replacement.client(relay).call<&NetworkRelay::add>(3, 4), 7);
  try {
    old.client(relay).call<&NetworkRelay::add>(1, 2);
    FAIL() << "the store served a fenced process";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::stopped) << error.what();
  }
}

}  // namespace
}  // namespace lp

// Calls over TCP in a run with keys: only processes that are alive may call, by their keys.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lp/base/error.h"
#include "tests/faults/stranger_for_test.h"

namespace lp::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class Curve : public StrangerFixture {
 protected:
  Curve() : StrangerFixture(true) {}

  Message hello() const {
    return hello_packet({.run = "honest", .token = "secret", .fingerprint = program_.fingerprint()});
  }
  Papers papers(const CurveKeys& keys) const { return {.keys = keys, .server_key = server_keys_.public_key}; }
  static bool is_welcome(const std::optional<Message>& reply) {
    return reply.has_value() && read_kind(*reply) == PacketKind::welcome;
  }
};

TEST_F(Curve, WithoutAKeyNobodyIsHeard) {
  Stranger has_the_secret(endpoint_, {});
  has_the_secret.send(hello());
  expect_refusals(1);
  EXPECT_FALSE(has_the_secret.receive(milliseconds(100)).has_value());
}

TEST_F(Curve, WithAKeyOfItsOwnMakingNobodyIsHeard) {
  Stranger stranger(endpoint_, papers(make_curve_keys()));
  stranger.send(hello());
  expect_refusals(1);
  EXPECT_FALSE(stranger.receive(milliseconds(100)).has_value());
}

TEST_F(Curve, WhoTakesTheServerForAnotherIsNotHeard) {
  Papers wrong = papers(friend_keys_);
  wrong.server_key = make_curve_keys().public_key;
  Stranger stranger(endpoint_, wrong);
  stranger.send(hello());
  expect_refusals(1);
  EXPECT_FALSE(stranger.receive(milliseconds(100)).has_value());
}

// The news of a new process may arrive after its first call.
TEST_F(Curve, AKeyThatBecomesKnownIsAccepted) {
  const CurveKeys keys = make_curve_keys();
  Stranger early(endpoint_, papers(keys));
  early.send(hello());
  expect_refusals(1);
  tell_server(2, keys.public_key);
  EXPECT_TRUE(is_welcome(early.receive()));
}

TEST_F(Curve, ARevokedKeyEndsItsConnectionAtOnceAndMakesNoOther) {
  Stranger fenced(endpoint_, papers(friend_keys_));
  fenced.send(hello());
  ASSERT_TRUE(is_welcome(fenced.receive()));
  tell_server(1, "");
  EXPECT_TRUE(fenced.is_cut());
  fenced.send(hello());  // it connects again by itself
  EXPECT_TRUE(fenced.is_refused());
  EXPECT_FALSE(fenced.receive(milliseconds(100)).has_value());
  expect_refusals(1);
  // Its next incarnation has another key.
  const CurveKeys next_keys = make_curve_keys();
  tell_server(2, next_keys.public_key);
  Stranger next(endpoint_, papers(next_keys));
  next.send(hello());
  EXPECT_TRUE(is_welcome(next.receive()));
}

// Messages that a fenced process had sent and nobody had taken yet are not served.
TEST_F(Curve, NoCallOfARevokedKeyBegins) {
  Runtime fenced(program_, options(friend_keys_), nobody_);
  const std::vector<PeerState> peers{
      {.node = 0, .incarnation = 1, .endpoint = endpoint_, .key = server_keys_.public_key}};
  fenced.update(peers);
  const auto client = fenced.client(Handle<Service>("service/0")).within(seconds(10));
  const auto honest = client_.client(Handle<Service>("service/0"));
  EXPECT_EQ(client.call<&Service::count>(1), 1u);
  tell_server(1, "");
  for (int i = 0; i < 3; ++i) {
    try {
      client.call<&Service::count>(1);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_NE(error.text().find("revoked"), std::string::npos) << error.what();
    }
  }
  EXPECT_EQ(honest.call<&Service::total>(), 1u);
}

TEST_F(Curve, ListeningBeyondThisHostNeedsKeys) {
  for (const auto& [address, why] : {std::pair("10.0.0.5", "needs its own key"),
                                     {"0.0.0.0", "could not connect to it"},
                                     {"::", "could not connect to it"},
                                     {"here", "not a numeric address"}}) {
    Runtime::Options off_host = options({});
    off_host.process.listen = address;
    try {
      const Runtime runtime(program_, off_host, nobody_);
      ADD_FAILURE() << address;
    } catch (const Error& error) {
      EXPECT_NE(error.text().find(why), std::string::npos) << error.what();
    }
  }
}

TEST_F(Curve, AnAddressThatThisHostHasNotIsRefused) {
  Runtime::Options elsewhere = options(keys());
  elsewhere.process.listen = "203.0.113.1";  // RFC 5737: an address that nobody has
  try {
    const Runtime runtime(program_, elsewhere, nobody_);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(error.text().find("`ip address`"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace lp::test

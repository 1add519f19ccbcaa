// Clients and several servers: split values come together again, key lists are sent once, replicas take over.
#include "nodes/parameters/parameter_client.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "lp/lp.h"
#include "tests/nodes/parameters/parameter_client_fixture.h"

namespace lp {
namespace {

using test::adding;
using test::counting;
using test::dense;
using test::kServers;
using test::ParameterClientTest;
using test::sparse;

INSTANTIATE_TEST_SUITE_P(Paths, ParameterClientTest, ::testing::Values(false, true),
                         [](const auto& path) { return path.param ? "Bytes" : "Direct"; });

TEST_P(ParameterClientTest, WhatIsCutComesTogetherAgain) {
  serve({dense(101), dense(20, 3)}, adding(Asynchronous{}, 1));
  ParameterClient one = client();
  const std::vector<float> first = counting(101);
  const std::vector<float> second = counting(60);
  std::vector<float> got(101);
  one.wait(one.start_push(0, 0, first, 0, got));
  EXPECT_EQ(got, first);
  one.wait(one.start_push(1, 0, second, 0));
  std::vector<float> other(60);
  const Arrival arrival = one.wait(one.start_pull(1, 1, other));
  EXPECT_EQ(other, second);
  EXPECT_EQ(arrival.newest, 1);
  EXPECT_EQ(one.traffic().sent, (101 + 60) * sizeof(float));
  EXPECT_EQ(one.traffic().received, (101 + 60) * sizeof(float));
}

// MXNet: a push comes after the pushes and pulls of the same keys that were begun before it.
TEST_P(ParameterClientTest, RequestsAreServedInTheOrderInWhichTheyAreBegun) {
  serve({dense(101)}, adding(Asynchronous{}, 1));
  ParameterClient one = client();
  const std::vector<float> ones(101, 1.0F);
  std::vector<std::vector<float>> got(20, std::vector<float>(101));
  std::vector<ParameterClient::Request> requests;
  for (std::uint64_t i = 0; i < got.size(); ++i) {
    requests.push_back(one.start_pull(0, i, got[i]));
    requests.push_back(one.start_push(0, i, ones, 0));
  }
  for (ParameterClient::Request& request : requests) one.wait(std::move(request));
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], std::vector<float>(101, static_cast<float>(i)));
}

TEST_P(ParameterClientTest, RowsGoToTheirServersAndBack) {
  serve({sparse(2), dense(101)}, adding(Asynchronous{}, 1));
  ParameterClient one = client();
  Random random(1, "keys");
  std::set<std::uint64_t> unique;
  while (unique.size() < 200) unique.insert(random());
  const auto keys = Array<std::uint64_t>::copy_of(std::vector<std::uint64_t>(unique.begin(), unique.end()));
  const auto rows = Array<float>::copy_of(counting(400));
  one.wait(one.start_push_rows(0, 0, keys, rows, 0));
  std::vector<float> got(400);
  one.wait(one.start_pull_rows(0, 1, keys, got));
  EXPECT_EQ(got, counting(400));
  for (const auto& server : servers().all<&ParameterServer::statistics>()) EXPECT_EQ(server.shards.applied, 1);
  const auto some = Array<std::uint64_t>::copy_of(std::vector<std::uint64_t>{7, 50, 99});
  one.wait(one.start_push_rows(1, 0, some, Array<float>::copy_of(counting(3)), 0));
  std::vector<float> all(101);
  one.wait(one.start_pull(1, 1, all));
  EXPECT_EQ(std::accumulate(all.begin(), all.end(), 0.0F), 6);
  EXPECT_EQ(all[50], 2);
}

TEST_P(ParameterClientTest, APushOfNoRowsGoesToEveryServer) {
  serve({sparse()}, adding(Asynchronous{}, 1));
  ParameterClient one = client(0);
  one.wait(one.start_push_rows(0, 0, {}, {}, 0));
  for (std::uint32_t server = 0; server < kServers; ++server) {
    EXPECT_EQ(servers()[server].call<&ParameterServer::position>(0, server, 0).clock, 1);
  }
  const auto keys = Array<std::uint64_t>::copy_of(std::vector<std::uint64_t>{1, std::uint64_t{1} << 63});
  EXPECT_EQ(one.wait(one.start_push_rows(0, 1, keys, Array<float>::copy_of(counting(2)), 0)).oldest, 2);
}

TEST_P(ParameterClientTest, ARepeatedListTravelsAsItsHash) {
  serve({sparse()}, adding(Asynchronous{}, 2));
  ParameterClient one = client(0);
  const auto keys = Array<std::uint64_t>::copy_of(std::vector<std::uint64_t>{1, 2, 3, std::uint64_t{1} << 63});
  const auto rows = Array<float>::copy_of(counting(4));
  for (std::uint64_t step = 0; step < 5; ++step) one.wait(one.start_push_rows(0, step, keys, rows, 0));
  EXPECT_EQ(one.traffic().sent, 4 * sizeof(std::uint64_t) + 5 * 4 * sizeof(float));
  std::vector<float> got(4);
  one.wait(one.start_pull_rows(0, 5, keys, got));
  EXPECT_EQ(got, (std::vector<float>{5, 10, 15, 20}));
  EXPECT_EQ(one.traffic().sent, 4 * sizeof(std::uint64_t) + 5 * 4 * sizeof(float));
}

TEST_P(ParameterClientTest, AServerThatForgotAListIsSentItAgain) {
  serve({sparse()}, adding(Asynchronous{}, 1));
  ParameterClient one = client(0);
  const auto keys = Array<std::uint64_t>::copy_of(std::vector<std::uint64_t>{1, 2, 3, std::uint64_t{1} << 63});
  const auto rows = Array<float>::copy_of(counting(4));
  one.wait(one.start_push_rows(0, 0, keys, rows, 0));
  run_->restart({"server/0", "server/1", "server/2"});
  EXPECT_EQ(one.position(), 0);
  one.wait(one.start_push_rows(0, 0, keys, rows, 0));
  std::vector<float> got(4);
  one.wait(one.start_pull_rows(0, 1, keys, got));
  EXPECT_EQ(got, counting(4));
}

TEST_P(ParameterClientTest, CompressionCutsBytesAndLosesNothingOverTime) {
  serve({dense(10'000)}, adding(Asynchronous{}, 1));
  ParameterClient one = client(0, {.compression = {.kind = Compression::top_k, .share = 0.01}});
  const std::vector<float> gradient(10'000, 1.0F);
  for (std::uint64_t step = 0; step < 300; ++step) one.wait(one.start_push(0, step, gradient, 0));
  EXPECT_NEAR(static_cast<double>(one.traffic().sent), 300.0 * 100 * 8, 300 * 2 * 8);  // an index and a value
  std::vector<float> got(10'000);
  one.wait(one.start_pull(0, 300, got));
  for (const float value : got) {
    EXPECT_GE(value, 100);  // each was sent about every 100 steps, with its residual
    EXPECT_LE(value, 300);
  }
}

TEST_P(ParameterClientTest, AUsersFilterComesBeforeTheCompression) {
  serve({dense(100)}, adding(Asynchronous{}, 1));
  ParameterClient one = client(
      0, {.compression = {.kind = Compression::significant, .threshold = 1}, .filter = [](std::span<float> values) {
            for (float& value : values) value = value > 90 ? value : 0;
          }});
  one.wait(one.start_push(0, 0, counting(100), 0));
  EXPECT_EQ(one.traffic().sent, 10 * 8);  // an index and a value each
  std::vector<float> got(100);
  one.wait(one.start_pull(0, 1, got));
  EXPECT_EQ(std::count(got.begin(), got.end(), 0.0F), 90);
  EXPECT_EQ(got[99], 100);
}

TEST_P(ParameterClientTest, AFilterChangesRowsToo) {
  serve({dense(100)}, adding(Asynchronous{}, 1));
  ParameterClient one = client(0, {.filter = [](std::span<float> values) {
                                 for (float& value : values) value *= 2;
                               }});
  const auto keys = Array<std::uint64_t>::copy_of(std::vector<std::uint64_t>{3, 50, 99});
  one.wait(one.start_push_rows(0, 0, keys, Array<float>::copy_of(counting(3)), 0));
  std::vector<float> got(3);
  one.wait(one.start_pull_rows(0, 1, keys, got));
  EXPECT_EQ(got, (std::vector<float>{2, 4, 6}));
}

TEST_P(ParameterClientTest, RowsAreNotCompressedInSilence) {
  serve({dense(100)}, adding(Asynchronous{}, 1));
  const auto keys = Array<std::uint64_t>::copy_of(std::vector<std::uint64_t>{3});
  for (const CompressionOptions& options :
       {CompressionOptions{.kind = Compression::top_k}, CompressionOptions{.clip = 1}}) {
    ParameterClient one = client(0, {.compression = options});
    EXPECT_THROW(static_cast<void>(one.start_push_rows(0, 0, keys, Array<float>(1), 0)), Error);
  }
}

constexpr Compression kEveryCompression[] = {Compression::none,     Compression::one_bit,     Compression::top_k,
                                             Compression::random_k, Compression::significant, Compression::dither};

TEST_P(ParameterClientTest, WhatIsNotFiniteIsRefusedBeforeItIsCompressed) {
  serve({dense(100)}, adding(Asynchronous{}, 1));
  for (const Compression kind : kEveryCompression) {
    ParameterClient one = client(0, {.compression = {.kind = kind, .share = 0.01}});
    std::vector<float> gradient(100, 1);
    gradient[42] = std::numeric_limits<float>::quiet_NaN();
    try {
      one.wait(one.start_push(0, 0, gradient, 0));
      ADD_FAILURE() << static_cast<int>(kind);
    } catch (const Error& error) {
      EXPECT_NE(error.text().find("worker 0"), std::string::npos) << error.what();
      EXPECT_NE(error.text().find("element 42"), std::string::npos) << error.what();
    }
    for (const Array<float>& residual : one.residuals()) EXPECT_EQ(residual.size(), 0U);
  }
}

TEST_P(ParameterClientTest, AClippedGradientHasNoEffectOnWhatFollows) {
  for (const Compression kind : kEveryCompression) {
    program_ = Program("servers");
    serve({dense(100)}, adding(Asynchronous{}, 1));
    ParameterClient one = client(0, {.compression = {.kind = kind, .share = 0.1}, .bad_values = BadValues::clip});
    std::vector<float> gradient(100, 1);
    gradient[42] = std::numeric_limits<float>::quiet_NaN();
    one.wait(one.start_push(0, 0, gradient, 0));
    gradient[42] = 1;
    for (std::uint64_t step = 1; step < 200; ++step) one.wait(one.start_push(0, step, gradient, 0));
    std::vector<float> got(100);
    one.wait(one.start_pull(0, 200, got));
    EXPECT_GT(got[42], 50) << static_cast<int>(kind);
  }
}

TEST_P(ParameterClientTest, AGradientIsClippedAsAWholeWhoeverOwnsItsParts) {
  serve({dense(100)}, adding(Asynchronous{}, 1));
  ParameterClient one = client(0, {.bad_values = BadValues::clip});
  std::vector<float> gradient(100, -7);
  one.wait(one.start_push(0, 0, gradient, 0));
  std::vector<float> got(100);
  one.wait(one.start_pull(0, 1, got));
  EXPECT_EQ(got, gradient);  // all values are finite
  gradient[42] = std::numeric_limits<float>::infinity();
  one.wait(one.start_push(0, 1, gradient, 0));
  one.wait(one.start_pull(0, 2, got));
  std::vector<float> expected(100, -8);
  expected[42] = -6;
  EXPECT_EQ(got, expected);
}

// The choices of random_k are a function of the step, too.
TEST_P(ParameterClientTest, AnotherClientGoesOnFromTheResiduals) {
  const std::vector<float> gradient = counting(100);
  for (const Compression kind : kEveryCompression) {
    const ParameterClientOptions options{.compression = {.kind = kind, .share = 0.1, .threshold = 150}, .seed = 9};
    std::vector<float> expected(100);
    for (const bool restarted : {false, true}) {
      program_ = Program("servers");
      serve({dense(100)}, adding(Asynchronous{}, 1));
      ParameterClient first = client(0, options);
      for (std::uint64_t step = 0; step < 5; ++step) first.wait(first.start_push(0, step, gradient, 0));
      ParameterClient second = client(0, options);
      second.restore(first.residuals());
      ParameterClient& one = restarted ? second : first;
      for (std::uint64_t step = 5; step < 10; ++step) one.wait(one.start_push(0, step, gradient, 0));
      std::vector<float> got(100);
      one.wait(one.start_pull(0, 10, got));
      if (!restarted) expected = got;
      EXPECT_EQ(got, expected) << static_cast<int>(kind);
    }
  }
  ParameterClient one = client(0);
  EXPECT_THROW(one.restore(std::vector<Array<float>>(kServers + 1)), Error);
}

TEST_P(ParameterClientTest, KeysThatDoNotAscendAreRefused) {
  serve({sparse()}, adding(Asynchronous{}, 1));
  ParameterClient one = client(0);
  const auto keys = Array<std::uint64_t>::copy_of(std::vector<std::uint64_t>{2, 1});
  EXPECT_THROW(one.wait(one.start_push_rows(0, 0, keys, Array<float>(2), 0)), Error);
  EXPECT_THROW(one.wait(one.start_push_rows(0, 0, keys, Array<float>(3), 0)), Error);
}

// The server was restarted, and the others wait for workers that wait for it: its answer must not wait for theirs.
TEST_P(ParameterClientTest, AServerThatIsBehindIsHeardThoughOthersDoNotAnswer) {
  serve({dense(64)}, adding(Synchronous{}, 2));
  ParameterClient one = client(0);
  ParameterClient two = client(1);
  const std::vector<float> ones(64, 1.0F);
  std::vector<float> got(64);
  ParameterClient::Request first = one.start_push(0, 0, ones, 0, got);
  two.wait(two.start_push(0, 0, ones, 0));
  one.wait(std::move(first));
  run_->restart({"server/2"});
  const auto expect_behind = [&](ParameterClient::Request request, const std::string& why) {
    try {
      one.wait(std::move(request));
      ADD_FAILURE() << why;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::disconnected) << error.what();
      EXPECT_NE(error.text().find(why), std::string::npos) << error.text();
    }
  };
  expect_behind(one.start_push(0, 1, ones, 0), "a server was restarted since it was read");
  const auto first_key = tensors_[0].partition.ranges(0).front().begin;  // a key of server 0, which is idle now
  const auto keys = Array<std::uint64_t>::copy_of(std::vector<std::uint64_t>{first_key});
  ParameterClient::Request pull = one.start_pull_rows(0, 2, keys, std::span(got).first(1));
  ParameterClient::Request push = one.start_push(0, 1, ones, 0);
  expect_behind(std::move(pull), "a server was restarted since it was read");
  expect_behind(std::move(push), "another request of its worker failed");
}

// Two servers had answered a push when all went back to the time before it, and the third gets it again: a worker that
// took all answers for those of one step would bring the third ahead of the two for ever.
TEST_P(ParameterClientTest, AnAnswerOfARestartedServerDoesNotCompleteAStep) {
  serve({dense(30)}, adding(Synchronous{}, 2));
  ParameterClient one = client(0);
  std::vector<float> got(30);
  ASSERT_EQ(one.pull_common(0, got), 0);
  const std::vector<float> ones(30, 1.0F);
  ParameterClient::Request request = one.start_push(0, 0, ones, 0, got);
  const auto push_of_the_other = [&](std::uint32_t server) {
    Push push{.shard = server, .stamp = {.worker = 1}};
    push.values = plain(Array<float>(key_count(tensors_[0].partition.ranges(server))));
    servers()[server].call<&ParameterServer::push>(push);
  };
  push_of_the_other(1);
  push_of_the_other(2);
  const auto step_of = [&](std::uint32_t server) {
    return servers()[server].call<&ParameterServer::position>(0U, server, 0U).version;
  };
  while (step_of(1) + step_of(2) < 2) {
  }
  run_->restart({"server/0", "server/1", "server/2"});
  push_of_the_other(0);
  EXPECT_THROW(one.wait(std::move(request)), Error);
  EXPECT_EQ(one.pull_common(0, got), 0);
  request = one.start_push(0, 0, ones, 0, got);
  push_of_the_other(1);
  push_of_the_other(2);
  EXPECT_EQ(one.wait(std::move(request)).oldest, 1);
  EXPECT_EQ(got, ones);
}

// Petuum: a read from several servers has the updates that the slowest worker has done at all of them.
TEST_P(ParameterClientTest, AReadIsAsNewAsItsOldestPart) {
  for (std::uint32_t behind = 0; behind < kServers; ++behind) {
    program_ = Program("servers");
    serve({dense(30)}, adding(StaleSynchronous{.staleness = 5}, 2));
    const auto push = [&](std::uint32_t server, std::uint32_t worker) {
      Push zeros{.shard = server, .stamp = {.worker = worker}};
      zeros.values = plain(Array<float>(key_count(tensors_[0].partition.ranges(server))));
      servers()[server].call<&ParameterServer::push>(zeros);
    };
    for (std::uint32_t server = 0; server < kServers; ++server) {
      push(server, 0);
      if (server != behind) push(server, 1);
    }
    ParameterClient one = client(0);
    std::vector<float> got(30);
    EXPECT_EQ(one.wait(one.start_pull(0, 1, got)).slowest, 0) << "server " << behind << " is behind";
    push(behind, 1);
    EXPECT_EQ(one.wait(one.start_pull(0, 1, got)).slowest, 1);
    run_.reset();
  }
}

TEST_P(ParameterClientTest, RowsOfAnotherNumberThanItsTensorHasAreRefused) {
  serve({dense(30)}, adding(Asynchronous{}, 1));
  tensors_ = {dense(20)};
  ParameterClient one = client();
  std::vector<float> got(20);
  try {
    one.wait(one.start_pull(0, 0, got));
    ADD_FAILURE() << "it was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::failed);
    EXPECT_NE(error.text().find("do server and worker have the same tensors?"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace lp

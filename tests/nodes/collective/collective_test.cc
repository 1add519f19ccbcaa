// Collective operations: sums, bits, bytes, steps, sizes that do not fit, and members that die.
#include "nodes/collective/collective.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "lp/lp.h"
#include "tests/lp/cuda/processor_device.h"
#include "tests/nodes/collective/collective_group.h"

namespace lp {
namespace {

using test::Body;
using test::Case;
using test::Group;
using test::name_of;
using test::real_numbers;
using test::serial_sum;
using test::Values;
using test::whole_numbers;

class EveryAllreduce : public testing::TestWithParam<Case> {};

TEST_P(EveryAllreduce, IsTheSumInEveryRank) {
  const auto [how, members, serialize] = GetParam();
  // These include nothing, fewer values than members, and more than one buffer.
  const std::vector<std::size_t> sizes{0, 1, 3, 1000, 5000, 100'000, 1'200'000};
  std::vector<std::vector<Values>> results(members);
  Group group(
      members,
      [&](Collective& all, std::uint32_t index) {
        EXPECT_EQ(all.join().number, 1U);
        EXPECT_EQ(all.rank(), index);
        for (const std::size_t size : sizes) {
          results[index].push_back(whole_numbers(index, size));
          all.allreduce(results[index].back());
        }
      },
      {.allreduce = how, .fusion_bytes = std::size_t{1} << 20}, serialize);
  group.finish();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Values expected = serial_sum(members, sizes[i], whole_numbers);
    for (std::uint32_t member = 0; member < members; ++member) {
      EXPECT_TRUE(results[member][i] == expected) << "size " << sizes[i] << ", member " << member;
    }
  }
}

TEST_P(EveryAllreduce, GivesAllRanksTheSameBitsNearTheSerialSum) {
  const auto [how, members, serialize] = GetParam();
  std::vector<Values> results(members);
  Group group(
      members,
      [&](Collective& all, std::uint32_t index) {
        results[index] = real_numbers(index, 30'000);
        all.join();
        all.allreduce(results[index]);
      },
      {.allreduce = how}, serialize);
  group.finish();
  const Values expected = serial_sum(members, 30'000, real_numbers);
  for (const Values& one : results) EXPECT_TRUE(one == results[0]);
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(results[0][i], expected[i], 1e-5);
  if (how == Allreduce::direct) {
    EXPECT_TRUE(results[0] == expected);  // added in the order of the ranks
  }
}

// The arrays have any size, also more than a piece; every second rank gives spans instead.
TEST_P(EveryAllreduce, ArraysBecomeTheirSumWhereTheyLie) {
  const auto [how, members, serialize] = GetParam();
  const std::vector<std::size_t> sizes{5000, 0, 700'000, 3, 600'000};
  std::vector<std::vector<Array<float>>> results(members);
  Group group(
      members,
      [&](Collective& all, std::uint32_t index) {
        std::vector<Array<float>>& mine = results[index];
        for (const std::size_t size : sizes) mine.push_back(Array<float>::copy_of(whole_numbers(index, size)));
        std::vector<const float*> places;
        for (const Array<float>& one : mine) places.push_back(one.data());
        all.join();
        if (index % 2 == 0) {
          all.allreduce(mine);
        } else {
          std::vector<std::span<float>> spans;
          for (Array<float>& one : mine) spans.push_back(one.edit());
          all.allreduce(spans);
        }
        for (std::size_t i = 0; i < mine.size(); ++i) EXPECT_EQ(mine[i].data(), places[i]);
      },
      {.allreduce = how, .fusion_bytes = std::size_t{1} << 20}, serialize);
  group.finish();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto expected = Array<float>::copy_of(serial_sum(members, sizes[i], whole_numbers));
    for (const auto& one : results) EXPECT_TRUE(one[i] == expected) << "size " << sizes[i];
  }
}

// Every second rank has its values on a GPU, and takes the sum there.
TEST(Arrays, OnAGpuBecomeTheirSumThere) {
  const std::size_t size = 700'000;
  std::vector<Values> results(3);
  Group group(3, [&](Collective& all, std::uint32_t index) {
    auto values = Array<float>::copy_of(whole_numbers(index, size));
    all.join();
    if (index % 2 == 0) {
      cuda::Stream stream(std::make_shared<test::ProcessorDevice>());
      auto there = cuda::Array<float>::make(stream, size, [&](float* out) {
        test::put_kernel(stream, [out, values] { std::copy(values.begin(), values.end(), out); });
      });
      all.allreduce(there);
      results[index].resize(size);
      const float* sum = there.on(stream);
      test::put_kernel(stream, [&, sum] { std::copy(sum, sum + size, results[index].begin()); });
      stream.wait();
    } else {
      all.allreduce(values);
      results[index].assign(values.begin(), values.end());
    }
  });
  group.finish();
  for (const Values& one : results) EXPECT_TRUE(one == serial_sum(3, size, whole_numbers));
}

// An array with another reader, before the sum or after it, stays unchanged for the reader.
TEST(Arrays, KeepWhatTheirReadersSee) {
  std::vector<Array<float>> before(3);
  std::vector<Array<float>> once(3);
  std::vector<Array<float>> twice(3);
  Group group(3, [&](Collective& all, std::uint32_t index) {
    auto values = Array<float>::copy_of(whole_numbers(index, 100'000));
    before[index] = values;
    all.join();
    all.allreduce(values);
    once[index] = values;
    all.allreduce(values);
    twice[index] = values;
  });
  group.finish();
  const auto sum = Array<float>::copy_of(serial_sum(3, 100'000, whole_numbers));
  for (std::uint32_t index = 0; index < 3; ++index) {
    EXPECT_TRUE(before[index] == Array<float>::copy_of(whole_numbers(index, 100'000)));
    EXPECT_TRUE(once[index] == sum);
    for (std::size_t i = 0; i < sum.size(); ++i) ASSERT_EQ(twice[index][i], 3 * sum[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Algorithms, EveryAllreduce,
    testing::Values(Case{Allreduce::direct, 1}, Case{Allreduce::direct, 2}, Case{Allreduce::direct, 3, true},
                    Case{Allreduce::direct, 5}, Case{Allreduce::ring, 1}, Case{Allreduce::ring, 2},
                    Case{Allreduce::ring, 3, true}, Case{Allreduce::ring, 5}, Case{Allreduce::halving, 2},
                    Case{Allreduce::halving, 4, true}, Case{Allreduce::halving, 7}, Case{Allreduce::nearest, 18}),
    [](const auto& one) {
      return name_of(one.param.how) + std::to_string(one.param.members) + (one.param.serialize ? "Bytes" : "");
    });

// ---- traffic

class Traffic : public testing::TestWithParam<Allreduce> {};

TEST_P(Traffic, ARankSendsExactlyTwiceNMinusOneNths) {
  constexpr std::uint32_t kMembers = 4;
  constexpr std::size_t kSize = 64 << 10;
  constexpr std::uint64_t kExact = 2 * (kMembers - 1) * kSize * sizeof(float) / kMembers;
  std::vector<CollectiveStatistics> counted(kMembers);
  Group group(
      kMembers,
      [&](Collective& all, std::uint32_t index) {
        Values values = real_numbers(index, kSize);
        all.join();
        all.allreduce(values);
        counted[index] = all.statistics();
      },
      {.allreduce = GetParam()}, /*serialize=*/true);
  group.finish();
  std::map<std::string, std::uint64_t> sent;  // by member, calls and replies
  for (const CallStatistics& one : group.run().runtime().calls()) {
    const std::string caller = "collective" + one.caller.substr(one.caller.find('/'));
    if (caller == one.callee || one.method != "parts") continue;
    sent[caller] += one.bytes_sent;
    sent[one.callee] += one.bytes_received;
  }
  for (std::uint32_t member = 0; member < kMembers; ++member) {
    EXPECT_EQ(counted[member].bytes_sent, kExact);
    EXPECT_EQ(counted[member].bytes_received, kExact);
    const std::string name = "collective/" + std::to_string(member);
    EXPECT_GE(sent[name], kExact);
    EXPECT_LE(sent[name], kExact + 2 * (kMembers - 1) * 150);  // heads, and requests for the parts
  }
}
INSTANTIATE_TEST_SUITE_P(LargeTensors, Traffic, testing::Values(Allreduce::direct, Allreduce::ring, Allreduce::halving),
                         [](const auto& one) { return name_of(one.param); });

TEST(Ring, TakesTwiceNMinusOneSteps) {
  Group group(5,
              [](Collective& all, std::uint32_t index) {
                Values values = real_numbers(index, 100);
                all.join();
                all.allreduce(values);
                EXPECT_EQ(all.statistics().steps, 2U * 4);
              },
              {.allreduce = Allreduce::ring});
  group.finish();
}

class Fusion : public testing::TestWithParam<Allreduce> {};

TEST_P(Fusion, TensorsTravelTogetherUpToTheBuffer) {
  std::vector<std::vector<Values>> results(3);
  Group group(3,
              [&](Collective& all, std::uint32_t index) {
                for (const std::size_t size : {10U, 0U, 300U, 90U, 7U, 500U})
                  results[index].push_back(whole_numbers(index, size));
                std::vector<std::span<float>> tensors(results[index].begin(), results[index].end());
                all.join();
                all.allreduce(tensors);
                EXPECT_EQ(all.statistics().operations, 3U);  // 907 values, 400 in a buffer
              },
              {.allreduce = GetParam(), .fusion_bytes = 1600});
  group.finish();
  for (std::size_t i = 0; i < results[0].size(); ++i) {
    for (const auto& tensors : results) EXPECT_EQ(tensors[i], serial_sum(3, tensors[i].size(), whole_numbers));
  }
}
INSTANTIATE_TEST_SUITE_P(Algorithms, Fusion, testing::Values(Allreduce::direct, Allreduce::ring, Allreduce::halving),
                         [](const auto& one) { return name_of(one.param); });

// ---- the other operations

class Operations : public testing::TestWithParam<bool> {};

TEST_P(Operations, ReduceScatterGatherBroadcastAndBarrier) {
  constexpr std::uint32_t kMembers = 3;
  std::atomic<int> arrived = 0;
  Group group(
      kMembers,
      [&](Collective& all, std::uint32_t index) {
        all.join();
        for (int round = 0; round < 3; ++round) {
          const Values sum = serial_sum(kMembers, 100, whole_numbers);
          const Array<float> mine = all.reduce_scatter(whole_numbers(index, 100));
          const Collective::Slice slice = all.slice(all.rank(), 100);
          EXPECT_EQ(Values(mine.begin(), mine.end()),
                    Values(sum.begin() + static_cast<std::ptrdiff_t>(slice.begin),
                           sum.begin() + static_cast<std::ptrdiff_t>(slice.begin + slice.size)));

          const std::vector<Array<float>> gathered =
              all.all_gather(Array<float>::copy_of(whole_numbers(index, index + 1)));
          ASSERT_EQ(gathered.size(), kMembers);
          for (std::uint32_t rank = 0; rank < kMembers; ++rank) {
            EXPECT_EQ(Values(gathered[rank].begin(), gathered[rank].end()), whole_numbers(rank, rank + 1));
          }

          const Array<float> values = all.broadcast(Array<float>::copy_of(whole_numbers(index, 20'000)), 1);
          EXPECT_EQ(Values(values.begin(), values.end()), whole_numbers(1, 20'000));

          ++arrived;
          all.barrier();
          EXPECT_GE(arrived, 3 * (round + 1));
          all.barrier();
        }
      },
      {}, GetParam());
  group.finish();
}
INSTANTIATE_TEST_SUITE_P(Paths, Operations, testing::Bool(),
                         [](const auto& one) { return one.param ? "Bytes" : "Direct"; });

// ---- failures

TEST(CollectiveErrors, SizesThatDifferAreSaidToAll) {
  for (const Allreduce how : {Allreduce::direct, Allreduce::halving}) {
    std::atomic<int> refused = 0;
    Group group(2,
                [&](Collective& all, std::uint32_t index) {
                  Values values(100 + index);
                  all.join();
                  try {
                    all.allreduce(values);
                  } catch (const Error& error) {
                    EXPECT_EQ(error.kind(), ErrorKind::failed);
                    EXPECT_NE(error.text().find("all must give as many"), std::string::npos) << error.what();
                    ++refused;
                  }
                },
                {.allreduce = how});
    group.finish();
    EXPECT_EQ(refused, 2) << static_cast<int>(how);
  }
}

TEST(CollectiveErrors, AnotherOperationOrOtherTensorsAreNamed) {
  const auto expect_named = [](const Body& one, const Body& other, const std::string& name) {
    std::atomic<int> refused = 0;
    Group group(2, [&](Collective& all, std::uint32_t index) {
      all.join();
      try {
        (index == 0 ? one : other)(all, index);
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::disconnected) return;  // the other was the first to see it, and has ended
        EXPECT_EQ(error.kind(), ErrorKind::failed) << error.what();
        EXPECT_NE(error.text().find(name), std::string::npos) << error.what();
        ++refused;
      }
    });
    group.finish();
    EXPECT_GE(refused, 1) << name;
  };
  const auto reduce = [](std::size_t first, std::size_t second) {
    return [=](Collective& all, std::uint32_t) {
      Values a(first);
      Values b(second);
      const std::vector<std::span<float>> tensors{a, b};
      all.allreduce(tensors);
    };
  };
  expect_named(reduce(3, 5), reduce(5, 3), "tensors of the same sizes");
  expect_named([](Collective& all, std::uint32_t) { all.all_gather(Array<float>(3)); },
               [](Collective& all, std::uint32_t) { all.broadcast(Array<float>(3), 0); }, "all_gather");
  expect_named([](Collective& all, std::uint32_t) { all.broadcast({}, 2); },
               [](Collective& all, std::uint32_t) { all.broadcast({}, 2); }, "rank 2 of 2");
}

TEST(CollectiveErrors, WhoReturnsIsNamed) {
  Group group(2, [](Collective& all, std::uint32_t index) {
    all.join();
    all.broadcast(Array<float>::copy_of(whole_numbers(0, 20'000)),
                  0);  // the last broadcast of rank 0 can still be read
    if (index == 0) return;
    try {
      all.barrier();
      all.barrier();
      ADD_FAILURE() << "rank 0 has returned";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::disconnected);
      EXPECT_NE(error.text().find("rank 0, member 0 of the collective, has ended"), std::string::npos) << error.what();
    }
  });
  group.finish();
}

TEST(CollectiveSession, ACollectiveFollowsAnotherOnTheSameMembers) {
  Program program("collective");
  auto members = program.group<CollectiveMember>({.name = "collective", .replicas = 3}, context);
  auto work = [](const Clients<CollectiveMember>& members_of_all, int at) {
    for (std::uint64_t number = 1; number <= 5; ++number) {
      Collective all(members_of_all, static_cast<std::uint32_t>(at));
      EXPECT_EQ(all.join().number, number);
      Values values = whole_numbers(static_cast<std::uint32_t>(at), 9000);
      all.allreduce(values);
      EXPECT_TRUE(values == serial_sum(3, 9000, whole_numbers));
    }
  };
  program.function({.name = "worker", .replicas = 3}, work, members, index);
  LocalRun run(program);
  run.wait_finished();
  for (const auto& [node, error] : run.failed()) ADD_FAILURE() << node << ": " << error.what();
}

// After a restart of all, the numbers of sessions begin anew: a call of an earlier worker belongs to none of them.
TEST(CollectiveSession, AMemberSendsNothingInASessionThatItsWorkerHasNotEntered) {
  Program program("collective");
  const auto member = program.add<CollectiveMember>({.name = "collective"}, context);
  LocalRun run(program);
  const Client<CollectiveMember> client = run.client(member);
  EXPECT_THROW(client.call<&CollectiveMember::send>(1U, 0U, CollectivePart{}), Error);
  client.call<&CollectiveMember::enter>(1U);
  client.call<&CollectiveMember::send>(1U, 0U, CollectivePart{.operation = {.number = 7}});
  auto parts = client.stream<&CollectiveMember::parts>(1U, 0U);
  EXPECT_EQ(parts.next()->operation.number, 7U);
}

TEST(CollectiveErrors, NothingBeforeJoin) {
  Group group(1, [](Collective& all, std::uint32_t) { EXPECT_THROW(all.barrier(), Error); });
  group.finish();
}

TEST(CollectiveEnd, WhoJoinsWhenAnotherHasFinishedGetsItsLastState) {
  Group group(2, [](Collective& all, std::uint32_t index) {
    all.join();
    all.barrier();
    if (index == 0) return all.finish(Array<float>::copy_of(whole_numbers(0, 5)));
    EXPECT_TRUE(all.join(9).over);
    EXPECT_EQ(Values(all.last_state().begin(), all.last_state().end()), whole_numbers(0, 5));
  });
  group.finish();
}

class Death : public testing::TestWithParam<std::tuple<Allreduce, std::uint32_t>> {};

// Member `victim` takes part in one operation, then in no more, and is killed.
TEST_P(Death, FailsTheCallsOfAllOthersWhichGoOnWithoutIt) {
  const Allreduce how = std::get<0>(GetParam());
  const std::uint32_t victim = std::get<1>(GetParam());
  constexpr std::uint32_t kMembers = 4;
  std::atomic<int> out = 0;
  Event reached;
  Event killed;
  Group group(kMembers,
              [&](Collective& all, std::uint32_t index) {
                Values values = whole_numbers(index, 9000);
                all.join();
                try {
                  all.allreduce(values);
                  if (index == victim) {
                    reached.set();
                    EXPECT_TRUE(killed.wait(after(std::chrono::seconds(20))));
                    return;
                  }
                  for (;;) all.allreduce(values);
                } catch (const Error& error) {
                  EXPECT_EQ(error.kind(), ErrorKind::disconnected) << error.what();
                  EXPECT_NE(std::string(error.what()).find("collective/" + std::to_string(victim)), std::string::npos)
                      << error.what();
                }
                const Session session = all.join(index == 2 ? 7 : 3);
                EXPECT_EQ(session.number, 2U);
                EXPECT_EQ(all.ranks(), kMembers - 1);
                EXPECT_EQ(session.members[session.source], victim == 2 ? 0U : 2U);
                EXPECT_EQ(session.progress, victim == 2 ? 3U : 7U);
                values = whole_numbers(index, 9000);
                all.allreduce(values);
                Values expected(9000);
                for (std::uint32_t member = 0; member < kMembers; ++member) {
                  if (member == victim) continue;
                  const Values one = whole_numbers(member, 9000);
                  for (std::size_t i = 0; i < one.size(); ++i) expected[i] += one[i];
                }
                EXPECT_TRUE(values == expected);
                ++out;
              },
              {.allreduce = how});
  EXPECT_TRUE(reached.wait(after(std::chrono::seconds(20))));
  group.kill(victim);
  killed.set();
  group.finish();
  EXPECT_EQ(out, 3);
}
INSTANTIATE_TEST_SUITE_P(OfMember, Death,
                         testing::Combine(testing::Values(Allreduce::direct, Allreduce::ring, Allreduce::halving),
                                          testing::Values(0U, 2U)),
                         [](const auto& one) {
                           return name_of(std::get<0>(one.param)) + std::to_string(std::get<1>(one.param));
                         });

}  // namespace
}  // namespace lp

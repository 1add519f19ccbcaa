// Reading the parameters of servers from outside, while others train.
#include "nodes/parameters/parameters.h"

#include <gtest/gtest.h>

#include "lp/lp.h"
#include "nodes/parameters/gradient_encoding.h"
#include "tests/error_of.h"
#include "tests/nodes/parameters/two_servers.h"

namespace lp {
namespace {

using test::TwoServers;

class ParametersTest : public ::testing::Test {
 protected:
  // A step of which only the first server has the gradient.
  void push_to_first(std::uint64_t step) {
    const std::size_t size = servers_[0].call<&ParameterServer::versions>(0, 0).newest.size();
    Push push;
    push.stamp = {.worker = 0, .clock = step, .version = step};
    push.examples = 1;
    push.values = plain(Array<float>::copy_of(std::vector<float>(size, -1)));
    servers_[0].call<&ParameterServer::push>(push);
  }

  TwoServers two_{[](Program&, const GroupHandle<ParameterServer>&) {}};
  const Clients<ParameterServer> servers_ = two_.run().client(GroupHandle<ParameterServer>("server", 2));
};

TEST_F(ParametersTest, AreOfOneStepWhileOneServerIsAStepAhead) {
  two_.step();
  two_.step();
  push_to_first(2);
  for (const Parameters& one :
       {present_parameters(servers_), all_parameters(servers_, TwoServers::kSize), latest_parameters(servers_)}) {
    EXPECT_EQ(one.step, 2U);
    EXPECT_EQ(one.values, Eigen::VectorXf::Constant(TwoServers::kSize, 2));
  }
}

TEST_F(ParametersTest, OfServersThatHaveNoStepInCommonAreThePresentOnes) {
  two_.step();
  for (const std::uint64_t step : {1U, 2U}) push_to_first(step);
  const Parameters present = present_parameters(servers_);
  EXPECT_EQ(present.step, 1U);
  EXPECT_EQ(present.values.maxCoeff(), 3);
  EXPECT_EQ(present.values.minCoeff(), 1);
  EXPECT_EQ(test::error_of([&] { latest_parameters(servers_); }),
            "disconnected: one server is at step 1 and another at step 3: they are being restored");
}

TEST_F(ParametersTest, WithoutServersOrWithTooFewValuesAreAnError) {
  const std::string few = test::error_of([&] { all_parameters(servers_, TwoServers::kSize + 1); });
  EXPECT_NE(few.find("tensor"), std::string::npos) << few;
  EXPECT_EQ(test::error_of([] { all_parameters(Clients<ParameterServer>({}), 1); }),
            "the servers have 0 parameters, not 1");
}

}  // namespace
}  // namespace lp

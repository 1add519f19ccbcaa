#pragma once
// Parameter servers and their clients for tests, in one process; calls are direct, or go as bytes.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lp/lp.h"
#include "nodes/parameters/parameter_client.h"
#include "tests/lp/program/local_run.h"

namespace lp::test {

inline constexpr std::uint32_t kServers = 3;

inline ParameterServerOptions adding(const Consistency& consistency, std::uint32_t workers) {
  return {.shard = {.rule = Sum{}, .consistency = consistency, .workers = workers}};
}

inline Tensor dense(std::uint64_t keys, std::uint32_t width = 1) {
  return {.partition = Partition::ring(keys, kServers), .width = width};
}
inline Tensor sparse(std::uint32_t width = 1) {
  return {.partition = Partition::ring(0, kServers), .width = width, .sparse = true};
}

inline std::vector<float> counting(std::size_t size) {
  std::vector<float> out(size);
  std::iota(out.begin(), out.end(), 1.0F);
  return out;
}

class ParameterClientTest : public ::testing::TestWithParam<bool> {
 protected:
  void serve(std::vector<Tensor> tensors, const ParameterServerOptions& options) {
    tensors_ = std::move(tensors);
    auto servers = program_.declare_group<ParameterServer>({.name = "server", .replicas = kServers});
    program_.define(servers, context, tensors_, options,
                    options.replicated ? servers : GroupHandle<ParameterServer>("server", 0));
    Runtime::Options runtime;
    runtime.run.serialize = GetParam();
    run_.emplace(program_, runtime);
  }
  Clients<ParameterServer> servers() { return run_->client(GroupHandle<ParameterServer>("server", kServers)); }
  ParameterClient client(std::uint32_t worker = 0, ParameterClientOptions options = {}) {
    options.worker = worker;
    return ParameterClient(
        run_->client(GroupHandle<ParameterService>(GroupHandle<ParameterServer>("server", kServers))), tensors_,
        options);
  }
  // Acts as a supervisor whose policy is to ignore the failure.
  void kill(int server) {
    const NodeId node = run_->id("server/" + std::to_string(server));
    run_->runtime().stop(node, "it is killed");
    EXPECT_TRUE(run_->runtime().join(node, after(std::chrono::seconds(20))));
    const std::vector<PeerState> news{{.node = node, .incarnation = 2, .gone = true, .text = "it was killed"}};
    run_->runtime().update(news);
  }

  Program program_{"servers"};
  std::vector<Tensor> tensors_;
  std::optional<LocalRun> run_;
};

}  // namespace lp::test

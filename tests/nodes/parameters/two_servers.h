#pragma once
// Two parameter servers in this process, and nodes that look at them. Every step adds 1 to all parameters. Owned by the
// test; one thread.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "lp/lp.h"
#include "nodes/parameters/parameter_client.h"
#include "nodes/parameters/parameter_server.h"
#include "tests/lp/program/local_run.h"

namespace lp::test {

class TwoServers {
 public:
  static constexpr std::uint32_t kServers = 2;
  static constexpr std::size_t kSize = 11;  // not a multiple

  using Look = std::function<void(Program& program, const GroupHandle<ParameterServer>& servers)>;
  explicit TwoServers(const Look& add) {
    const ParameterServerOptions options{.shard = {.rule = Sgd{.rate = 1}, .workers = 1}};
    const auto servers = program_.group<ParameterServer>({.name = "server", .replicas = kServers}, context, tensors_,
                                                         options, GroupHandle<ParameterServer>("server", 0));
    add(program_, servers);
    run_.emplace(program_);
    client_.emplace(run_->client(GroupHandle<ParameterService>("server", kServers)), tensors_,
                    ParameterClientOptions{});
  }

  LocalRun& run() { return *run_; }
  void step() {
    const std::vector<float> gradient(kSize, -1);
    std::vector<float> parameters(kSize);  // the next gradient is one of these
    client_->wait(client_->start_push(0, step_++, gradient, 1, parameters));
  }

 private:
  const std::vector<Tensor> tensors_{{.partition = Partition::slices(kSize, kServers)}};
  Program program_{"two_servers"};
  std::optional<LocalRun> run_;
  std::optional<ParameterClient> client_;
  std::uint64_t step_ = 0;
};

}  // namespace lp::test

#pragma once
// Members of a collective for tests, each with a worker. A test owns it.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/random.h"
#include "lp/lp.h"
#include "nodes/collective/collective.h"
#include "tests/lp/program/local_run.h"

namespace lp::test {

using Values = std::vector<float>;
using Body = std::function<void(Collective&, std::uint32_t index)>;

// Integers, so that a sum in any order is exact.
inline Values whole_numbers(std::uint32_t member, std::size_t size) {
  Values out(size);
  for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<float>((i * 7 + member * 13) % 1000);
  return out;
}
inline Values real_numbers(std::uint32_t member, std::size_t size) {
  Values out(size);
  Random random(member, "values");
  for (float& one : out) one = static_cast<float>(random.normal());
  return out;
}
template <class Make>
Values serial_sum(std::uint32_t members, std::size_t size, Make make) {
  Values out = make(0, size);
  for (std::uint32_t member = 1; member < members; ++member) {
    const Values one = make(member, size);
    for (std::size_t i = 0; i < size; ++i) out[i] += one[i];
  }
  return out;
}

// Members and their workers, each of which runs `body`.
class Group {
 public:
  Group(std::uint32_t size, Body body, CollectiveOptions options = {}, bool serialize = false)
      : Group([options](std::uint32_t) { return options; }, size, std::move(body), serialize) {}
  // With options for each member.
  Group(std::function<CollectiveOptions(std::uint32_t)> options, std::uint32_t size, Body body,
        bool serialize = false) {
    const auto count = static_cast<int>(size);
    auto members = program_.group<CollectiveMember>({.name = "collective", .replicas = count}, context);
    auto work = [body = std::move(body), options = std::move(options)](const Clients<CollectiveMember>& all,
                                                                       int index) {
      Collective collective(all, static_cast<std::uint32_t>(index), options(static_cast<std::uint32_t>(index)));
      body(collective, static_cast<std::uint32_t>(index));
    };
    program_.function({.name = "worker", .replicas = count}, work, members, index);
    Runtime::Options runtime;
    runtime.run.serialize = serialize;
    run_.emplace(program_, runtime);
  }
  LocalRun& run() { return *run_; }
  // Waits for the end.
  void finish() {
    run_->wait_finished();
    for (const auto& [node, error] : run_->failed()) ADD_FAILURE() << node << ": " << error.what();
  }
  // Acts as a supervisor that does not restart the member.
  void kill(std::uint32_t member) {
    const NodeId node = run_->id("collective/" + std::to_string(member));
    run_->runtime().stop(node, "it is killed");
    EXPECT_TRUE(run_->runtime().join(node, after(std::chrono::seconds(20))));
    const std::vector<PeerState> news{{.node = node, .incarnation = 2, .gone = true, .text = "it was killed"}};
    run_->runtime().update(news);
  }

 private:
  Program program_{"collective"};
  std::optional<LocalRun> run_;
};

struct Case {
  Allreduce how = Allreduce::nearest;
  std::uint32_t members = 2;
  bool serialize = false;
};

inline std::string name_of(Allreduce how) {
  switch (how) {
    case Allreduce::direct: return "Direct";
    case Allreduce::ring: return "Ring";
    case Allreduce::halving: return "Halving";
    default: return "Nearest";
  }
}

}  // namespace lp::test

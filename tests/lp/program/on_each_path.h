#pragma once
// A program whose node "service" is called on a path of the test's choice: in this process, directly or as bytes, or in
// another runtime, like another process, through shared memory or TCP. Owned by the test; one thread.

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/lp/program/local_run.h"

namespace lp {

enum class Reach { direct, bytes, shm, tcp };

inline const auto kEachPath = ::testing::Values(Reach::direct, Reach::bytes, Reach::shm, Reach::tcp);
inline std::string reach_name(const ::testing::TestParamInfo<Reach>& reach) {
  return std::vector<std::string>{"Direct", "Bytes", "Shm", "Tcp"}.at(static_cast<std::size_t>(reach.param));
}

class ReachedRun {
 public:
  ReachedRun(const Program& program, Reach reach, Runtime::Options options = {})
      : options_(std::move(options)), id_(*program.find("service")) {
    options_.run.serialize = reach == Reach::bytes;
    if (reach == Reach::shm || reach == Reach::tcp) {
      options_.run.name = "test";
      options_.run.token = "secret";
      options_.network = true;
      options_.run.path = reach == Reach::shm ? Path::shm : Path::tcp;
      calling_ = std::make_unique<LocalRun>(program, options_, LocalRun::kNothingHere);
    }
    serving_ = std::make_unique<LocalRun>(program, options_, LocalRun::kNothingHere);
    serving_->start_one("service", 1);
    announce(/*up=*/true);
  }

  // The runtime of the nodes other than the service, and of their callers.
  LocalRun& calling() { return calling_ != nullptr ? *calling_ : *serving_; }
  LocalRun& serving() { return *serving_; }
  template <class H>
  auto client(const H& handle) {
    return calling().client(handle);
  }
  // Ends the service, and starts its next incarnation, as a supervisor does.
  void restart() {
    serving_->runtime().stop(id_, "it is restarted");
    EXPECT_TRUE(serving_->runtime().join(id_, after(std::chrono::seconds(20))));
    announce(/*up=*/false);
    ++incarnation_;
    serving_->start_one("service", incarnation_, /*others=*/ups_++);
    announce(/*up=*/true);
  }

 private:
  void announce(bool up) {
    if (calling_ == nullptr) return;
    PeerState state{.node = id_, .incarnation = incarnation_};
    if (up) state.endpoint = serving_->runtime().endpoint();
    calling_->runtime().update(std::span(&state, 1));
  }

  Runtime::Options options_;
  const NodeId id_;
  std::uint32_t incarnation_ = 1;
  std::size_t ups_ = 1;  // nodes that have become ready in serving_
  std::unique_ptr<LocalRun> calling_;
  std::unique_ptr<LocalRun> serving_;
};

}  // namespace lp

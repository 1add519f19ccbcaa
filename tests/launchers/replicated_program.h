#pragma once
// A program of replicas with state, of which some may be absent. Each has the whole state, and the present ones share
// the work of a step, so that the result is exact: the same, whichever were present. For the tests that launch it.

#include <signal.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lp/checkpoint/checkpoint.h"
#include "lp/lp.h"
#include "tests/launchers/programs_for_test.h"

namespace lp::test {

struct ReplicaState {
  int step = 0;
  int sum = 0;
};

class Replica {
 public:
  explicit Replica(Context& context) : context_(context) {}

  ReplicaState state() const { return state_; }
  void take(ReplicaState state) { state_ = state; }
  // Its part of the next step's numbers, summed. The calls of a step name it: a call that waited while its replica was
  // away reaches the next incarnation, which has the state of its checkpoint.
  std::optional<int> share(int step, int part, int parts) const {
    if (step != state_.step) return std::nullopt;
    int sum = 0;
    for (int number = part; number < kNumbers; number += parts) sum += state_.step * number + 1;
    return sum;
  }
  // The order of the steps counts, too.
  void add(int step, int total) {
    if (step == state_.step) state_ = {state_.step + 1, (31 * state_.sum + total) % 1'000'003};
  }
  void cut(int step) {
    if (step == state_.step) context_.checkpoint(static_cast<std::uint64_t>(state_.step));
  }
  void die() { raise(SIGKILL); }
  void save(Checkpoint& out) const { out.put("state", state_); }
  void load(const Checkpoint& in) {
    state_ = in.get<ReplicaState>("state");
    std::fprintf(stderr, "loaded step %d\n", state_.step);
  }
  using Remote = Methods<&Replica::state, &Replica::take, &Replica::share, &Replica::add, &Replica::cut, &Replica::die>;

 private:
  static constexpr int kNumbers = 12;

  Context& context_;
  ReplicaState state_;
};

// Takes the present replicas to the last step, despite all failures.
class Trainer {
 public:
  Trainer(Clients<Replica> replicas, Config config) : replicas_(std::move(replicas)), config_(std::move(config)) {}

  void run(Context& context) {
    for (bool done = false; !done && !context.stopping();) {
      try {
        done = advance();
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::disconnected) throw;
      }
    }
  }

 private:
  static constexpr int kStage = 20;
  static constexpr int kCut = 5;

  // Returns true at the end.
  bool advance() {
    look_who_is_there();
    const std::vector<ReplicaState> states = replicas_.all<&Replica::state>();
    const auto is_older = [](const ReplicaState& one, const ReplicaState& other) { return one.step < other.step; };
    const ReplicaState newest = *std::max_element(states.begin(), states.end(), is_older);
    for (std::size_t i = 0; i < states.size(); ++i) {  // a new replica begins without state
      if (is_older(states[i], newest)) replicas_[i].call<&Replica::take>(newest);
    }
    if (newest.step == config_.steps) return true;
    if (waits_for_another(newest.step)) return false;
    if (config_.mode == "one is killed" && newest.step == config_.steps - kCut && !std::exchange(killed_, true)) {
      replicas_[0].send<&Replica::die>();
    }
    std::vector<Future<std::optional<int>>> shares;
    const int parts = static_cast<int>(replicas_.size());
    for (int part = 0; part < parts; ++part) {
      shares.push_back(replicas_[static_cast<std::size_t>(part)].async<&Replica::share>(newest.step, part, parts));
    }
    int total = 0;
    for (Future<std::optional<int>>& future : shares) {
      const std::optional<int> share = future.get();
      if (!share) return false;  // the replica has been restarted since
      total += *share;
    }
    replicas_.all<&Replica::add>(newest.step, total);
    if ((newest.step + 1) % kCut == 0) replicas_.all<&Replica::cut>(newest.step + 1);
    return false;
  }

  void look_who_is_there() {
    replicas_ = replicas_.latest();
    std::string names;
    for (std::size_t i = 0; i < replicas_.size(); ++i) names += " " + std::to_string(replicas_.replica(i));
    if (names != std::exchange(said_, names)) std::fprintf(stderr, "there:%s\n", names.c_str());
  }

  // At the end of a stage, a given number of replicas must be there.
  bool waits_for_another(int step) const {
    const std::size_t stage = static_cast<std::size_t>(step / kStage);
    if (step % kStage != 0 || stage == 0 || stage > config_.members.size()) return false;
    if (static_cast<int>(replicas_.size()) == config_.members[stage - 1]) return false;
    std::fprintf(stderr, "waiting at step %d\n", step);
    replicas_.change().get();
    return true;
  }

  Clients<Replica> replicas_;
  const Config config_;
  std::string said_;
  bool killed_ = false;
};

inline Program make_replicated(const Config& config) {
  Program program("replicated");
  const auto replicas = program.group<Replica>(
      {.name = "replica", .replicas = config.workers, .on_failure = restart(5, std::chrono::milliseconds(1))}, context);
  program.add<Trainer>({.name = "trainer"}, replicas, config);
  return program;
}

}  // namespace lp::test

#pragma once
// The programs that the tests of this folder launch, in this process or in others.

#include <string>
#include <vector>

#include "launchers/programs.h"
#include "launchers/run.h"
#include "lp/lp.h"

namespace lp::test {

struct Config {
  Replicas workers = 2;
  std::string mode = "finish";  // the behaviour of workers: see programs_for_test.cc
  int steps = 5;
  bool restart = false;
  bool ignore = false;
  // the number of replicas that must be there at the end of each stage: see replicated_program.h
  std::vector<int> members{};

  static constexpr auto fields = lp::fields(field("steps", "of each worker", changeable));
};

class Counter {
 public:
  void add(int amount) { total_ += amount; }
  int total() const { return total_; }
  void set_worker_pid(int pid) { pid_ = pid; }
  int worker_pid() const { return pid_; }
  // Is ready when this many workers wait in it.
  Future<void> meet(int workers);
  int recurse(int depth) const;  // without an end
  using Remote = Methods<&Counter::add, &Counter::total, &Counter::set_worker_pid, &Counter::worker_pid, &Counter::meet,
                         &Counter::recurse>;

 private:
  int total_ = 0;
  int pid_ = 0;
  std::vector<Promise<void>> met_{};
};

// workers ──▶ counter
Program make_counting(const Config& config);
// A server that saves, and a worker that makes it save.
Program make_saving(const Config& config);
// A program that depends on more than its configuration.
Program make_impure(const Config& config);

const Programs& programs();

}  // namespace lp::test

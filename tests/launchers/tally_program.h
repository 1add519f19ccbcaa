#pragma once
// A tally that is saved in cuts, and a worker whose end the test delays. For the tests that launch it.

#include <fcntl.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

#include "lp/checkpoint/checkpoint.h"
#include "lp/lp.h"

namespace lp::test {

struct TallyConfig {
  std::string gate{};  // a FIFO: a worker ends when somebody opens it
};

class Tally {
 public:
  void run(Context& context) {
    Future<void> failure = context.exclusive([this] { return fails_.future(); });
    failure.get();
    throw std::runtime_error("it was asked to fail");
  }
  void add() {
    ++total_;
    if (total_ == 1) added_.set_value();
  }
  int total() const { return total_; }
  // Is ready when somebody has added.
  Future<void> added() { return added_.future(); }
  void fail() { fails_.set_value(); }
  void save(Checkpoint& out) const { out.put("total", total_); }
  void load(const Checkpoint& in) { total_ = in.get<int>("total"); }
  using Remote = Methods<&Tally::add, &Tally::total, &Tally::added, &Tally::fail>;

 private:
  int total_ = 0;
  Promise<void> added_;
  Promise<void> fails_;
};

inline Program make_tally(const TallyConfig& config) {
  Program program("tally");
  const auto tally = program.add<Tally>({.name = "tally", .on_failure = restart(1)});
  const auto work = [config](Client<Tally> counts) {
    counts.call<&Tally::add>();
    close(open(config.gate.c_str(), O_RDONLY | O_CLOEXEC));
  };
  program.function({.name = "worker", .on_failure = restart(1), .ends_program = true}, work, tally);
  return program;
}

}  // namespace lp::test

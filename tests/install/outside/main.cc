// A user's program: workers send numbers to a service, which adds them up. --launch=threads|processes.

#include "launchers/main.h"

#include "lp/lp.h"

namespace {

struct Config {
  int workers = 3;
};

class Sum {
 public:
  void add(int number) { total_ += number; }
  int total() const { return total_; }

  using Remote = lp::Methods<&Sum::add, &Sum::total>;

 private:
  int total_ = 0;
};

class Worker {
 public:
  Worker(lp::Client<Sum> sum, int index) : sum_(sum), index_(index) {}
  void run(lp::Context&) { sum_.call<&Sum::add>(index_ + 1); }

 private:
  lp::Client<Sum> sum_;
  int index_;
};

lp::Program make_program(const Config& config) {
  lp::Program program("outside");
  const auto sum = program.add<Sum>({.name = "sum"});
  program.group<Worker>({.name = "worker", .replicas = config.workers, .ends_program = true}, sum, lp::index);
  return program;
}

struct Result {
  int total = 0;
};

Result report(lp::Run& run, const Config& config) {
  const int total = run.client<Sum>("sum").call<&Sum::total>();
  if (total != config.workers * (config.workers + 1) / 2) throw lp::Error(lp::ErrorKind::failed, "a number is missing");
  return {.total = total};
}

}  // namespace

int main(int argc, char** argv) { return lp::main<Config>(argc, argv, make_program, report); }

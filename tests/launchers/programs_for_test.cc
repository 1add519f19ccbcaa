#include "tests/launchers/programs_for_test.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>

#include "lp/checkpoint/checkpoint.h"
#include "tests/launchers/elastic_program.h"
#include "tests/launchers/replicated_program.h"
#include "tests/launchers/tally_program.h"

namespace lp::test {
namespace {

class Worker {
 public:
  Worker(Client<Counter> counter, int index, Config config)
      : counter_(counter), index_(index), config_(std::move(config)) {
    if (config_.mode == "constructor throws" && index_ == 1) throw std::invalid_argument("no such model");
    if (config_.mode == "exits early" && index_ == 1) std::_Exit(7);
  }

  void run(Context& context) {
    metric::Counter(context, "test_runs", "runs of a worker").add();
    const bool last = index_ == config_.workers.most - 1;
    const bool first_time = context.incarnation() == 1;
    if (config_.mode == "throws" && last) throw std::runtime_error("no data here");
    if (config_.mode == "throws once" && last && first_time) throw std::runtime_error("no data yet");
    if (config_.mode == "aborts" && last) {
      std::fprintf(stderr, "about to abort\n");
      std::abort();
    }
    if (config_.mode == "segfaults" && last) raise(SIGSEGV);
    if (config_.mode == "recurses") counter_.call<&Counter::recurse>(0);
    if (config_.mode == "exits" && last) std::_Exit(3);
    if (config_.mode == "calls exit" && last) std::exit(0);
    if (config_.mode == "killed once" && last && first_time) raise(SIGKILL);
    if (config_.mode == "stopped" && last) raise(SIGSTOP);
    if (config_.mode == "hangs" && last) context.exclusive([] { wait_for_ever(); });
    if (config_.mode == "ignores the stop" && last) {
      std::fprintf(stderr, "waiting\n");
      wait_for_ever();
    }
    if (config_.mode == "stops the program" && last) context.stop_program("enough is enough");
    if (config_.mode == "leaves a daemon" && last) leave_daemon();
    if (config_.mode == "takes memory" && last) take_memory(context);
    if (config_.mode == "says where it is") say_where_it_is();
    if (config_.mode == "prints") print();
    if (config_.mode == "keeps large files") keep_large_files(context);
    if (config_.mode == "says that it waits" || config_.mode == "waits" || config_.mode == "leaves a daemon" ||
        config_.mode == "stops the program" || config_.mode == "meets the others and waits") {
      if (config_.mode == "meets the others and waits") counter_.call<&Counter::meet>(config_.workers.most);
      counter_.call<&Counter::set_worker_pid>(getpid());
      if (config_.mode != "waits" && last) std::fprintf(stderr, "waiting\n");
      context.wait_for_stop();
      return;
    }
    while (config_.mode == "calls at a pace") {
      if (!context.wait_for(std::chrono::milliseconds(100))) return;
      counter_.call<&Counter::add>(1);
    }
    for (int step = 1; step <= config_.steps; ++step) {
      counter_.call<&Counter::add>(1);
      context.report({.step = static_cast<std::uint64_t>(step), .total = static_cast<std::uint64_t>(config_.steps)});
    }
  }

 private:
  [[noreturn]] static void wait_for_ever() {
    Event never;
    for (;;) never.wait();
  }
  static void leave_daemon() {
    const pid_t between = fork();
    if (between == 0) {
      setsid();
      if (fork() == 0) {
        for (;;) pause();
      }
      _exit(0);
    }
    waitpid(between, nullptr, 0);  // the daemon is there
  }
  static void take_memory(Context& context) {
    std::vector<std::string> taken;
    for (int i = 0; i < 768; ++i) taken.emplace_back(std::size_t{1} << 20, 'x');
    context.wait_for_stop();
  }
  static void keep_large_files(Context& context) {
    for (const ScratchLife life : {ScratchLife::run, ScratchLife::cuts}) {
      std::ofstream(context.scratch(std::getenv("LP_TEST_SCRATCH"), life) / context.run_name()) << "large";
    }
    if (context.index() == 0) std::fprintf(stderr, "waiting\n");
    context.wait_for_stop();
  }
  static void say_where_it_is() {
    cpu_set_t cores;
    sched_getaffinity(0, sizeof cores, &cores);
    const auto text = [](const char* name) { return std::getenv(name) == nullptr ? "all" : std::getenv(name); };
    std::fprintf(stderr, "gpus %s, cores %d, threads %s\n", text("CUDA_VISIBLE_DEVICES"), CPU_COUNT(&cores),
                 text("OMP_NUM_THREADS"));
  }
  static void print() {
    std::printf("a line\nbytes \x01\xff\nno end");
    std::fflush(stdout);
    std::fprintf(stderr, "an error\n");
    const std::string line(1000, 'x');
    for (int i = 0; i < 3000; ++i) std::printf("%s\n", line.c_str());
  }

  Client<Counter> counter_;
  int index_;
  Config config_;
};

class Saver {
 public:
  Saver(Context& context, Config config) : context_(context), config_(std::move(config)) {}

  int step() {
    const Span span("advance");
    const bool first = context_.incarnation() == 1 && context_.index() == 0;
    if (++step_ == 15 && first && config_.mode == "killed once") raise(SIGKILL);
    return step_;
  }
  int value() const { return step_; }
  void save(Checkpoint& out) const { out.put("step", step_); }
  void load(const Checkpoint& in) {
    step_ = in.get<int>("step");
    loaded_ = true;
    std::fprintf(stderr, "loaded step %d\n", step_);
  }
  bool loaded() const { return loaded_; }
  void cut(std::uint64_t step) { context_.checkpoint(step); }
  using Remote = Methods<&Saver::step, &Saver::value, &Saver::cut, &Saver::loaded>;

 private:
  Context& context_;
  Config config_;
  int step_ = 0;
  bool loaded_ = false;
};

// Takes both to the last step, despite all failures.
class Driver {
 public:
  Driver(Clients<Saver> savers, Config config)
      : savers_(std::move(savers)), config_(std::move(config)), steps_(config_.steps) {}
  void run(Context& context) {
    const bool endless = config_.mode == "ends when loaded" && !savers_[0].call<&Saver::loaded>();
    if (endless) steps_ = std::numeric_limits<int>::max();
    if (endless) cut_every_ = 20;
    for (int step = 0; !context.stopping() && (step = advance()) < steps_;) {
      if (endless) std::fprintf(stderr, "step %d\n", step);
      if (endless) context.wait_for(std::chrono::milliseconds(20));
    }
  }

 private:
  int advance() {
    try {
      const int step = savers_[0].call<&Saver::value>();
      if (step >= steps_) return step;
      for (std::size_t i = 0; i < savers_.size(); ++i) {
        if (savers_[i].call<&Saver::value>() <= step) savers_[i].call<&Saver::step>();
        if ((step + 1) % cut_every_ == 0) savers_[i].call<&Saver::cut>(static_cast<std::uint64_t>(step + 1));
      }
      return step + 1;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::disconnected) throw;
      return 0;
    }
  }

  Clients<Saver> savers_;
  Config config_;
  int steps_;
  int cut_every_ = 1;
};

}  // namespace

Future<void> Counter::meet(int workers) {
  Future<void> met = met_.emplace_back().future();
  if (static_cast<int>(met_.size()) >= workers) {
    for (Promise<void>& one : met_) one.set_value();
    met_.clear();
  }
  return met;
}

int Counter::recurse(int depth) const {
  volatile char room = 0;  // each call has its frame
  if (depth >= 0) room = static_cast<char>(recurse(std::max(depth + 1, 1)));
  return room;
}

Program make_saving(const Config& config) {
  Program program("saving");
  auto savers = program.group<Saver>(
      {.name = "saver", .replicas = 2, .on_failure = restart(3, std::chrono::milliseconds(1))}, context, config);
  program.add<Driver>({.name = "driver"}, savers, config);
  return program;
}

Program make_counting(const Config& config) {
  if (config.mode == "throws a number") throw 42;
  Program program("counting");
  auto counter = program.add<Counter>({.name = "counter"});
  const FailurePolicy policy = config.restart  ? restart(2, std::chrono::milliseconds(10))
                               : config.ignore ? ignore()
                                               : stop_program();
  program.group<Worker>({.name = "worker", .replicas = config.workers, .on_failure = policy}, counter, index, config);
  return program;
}

Program make_impure(const Config& config) {
  Program program("impure");
  program.add<Counter>({.name = std::getenv("LP_NODE") == nullptr ? "launcher" : "node"});
  static_cast<void>(config);
  return program;
}

const Programs& programs() {
  static const Programs all = Programs()
                                  .add<Config>("program", make_counting)
                                  .add<Config>("impure", make_impure)
                                  .add<Config>("saving", make_saving)
                                  .add<Config>("replicated", make_replicated)
                                  .add<ElasticConfig>("elastic", make_elastic)
                                  .add<ElasticConfig>("keeping", make_keeping)
                                  .add<TallyConfig>("tally", make_tally);
  return all;
}

}  // namespace lp::test

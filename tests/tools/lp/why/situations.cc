// A program that gets into trouble, for the tests of lp why and lp logs: --situation names the trouble.

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "launchers/main.h"
#include "lp/base/descriptor.h"
#include "lp/lp.h"
#include "nodes/gather.h"

namespace lp::test {
namespace {

struct Config {
  std::string situation = "healthy";
  std::string disk{};  // a FIFO into which nobody writes
};

// The time that work at a device takes, for instance.
void work_for(int milliseconds) { poll(nullptr, 0, milliseconds); }

// The time of a processor that work takes.
void compute_for(int milliseconds) {
  const auto used = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  };
  for (const auto end = used() + std::chrono::milliseconds(milliseconds); used() < end;) {
  }
}

void read_disk(const std::string& path) {
  const Descriptor disk(open(path.c_str(), O_RDWR | O_CLOEXEC));
  std::array<char, 1> byte{};
  [[maybe_unused]] const auto got = read(disk.number(), byte.data(), byte.size());
}

// Puts this thread on the first of its processors.
void take_first_processor() {
  cpu_set_t mine;
  sched_getaffinity(0, sizeof mine, &mine);
  int first = 0;
  while (!CPU_ISSET(first, &mine)) ++first;
  CPU_ZERO(&mine);
  CPU_SET(first, &mine);
  sched_setaffinity(0, sizeof mine, &mine);
}

// Gives its value when its run() has got that of the next one.
class Knot {
 public:
  explicit Knot(Client<Knot> next) : next_(next) {}
  Future<int> value() { return value_.future(); }
  void run(Context&) { value_.set_value(next_.call<&Knot::value>()); }
  using Remote = Methods<&Knot::value>;

 private:
  Client<Knot> next_;
  Promise<int> value_{};
};

class Server {
 public:
  Server(Context& context, const Config& config) : config_(config) {
    if (config.situation == "restart" && context.incarnation() > 1) read_disk(config.disk);
  }

  void add() const {}
  void work() {  // in turn
    work_for(2);
    ++done_;
  }
  // Works on a processor that it gets only when nobody else wants it.
  void starve() {
    take_first_processor();
    const sched_param none{};
    sched_setscheduler(0, SCHED_IDLE, &none);
    compute_for(1000);
  }
  void hang() {
    while (!ends_) ++turns_;
  }
  void stop_itself() { raise(SIGSTOP); }
  void crash() { raise(SIGKILL); }
  void save() { read_disk(config_.disk); }
  Stream<int> count() {
    for (int i = 0;; ++i) co_yield i;
  }
  // Two threads that lock in opposite order, when both have their first lock.
  void forward() { lock(a_, b_); }
  void backward() { lock(b_, a_); }
  // Publishes until it is refused. Returns the reason.
  std::string publish() {
    constexpr std::size_t kLarge = 1 << 16;  // read in place
    try {
      parameters.publish(Array<float>(kLarge));
      return {};
    } catch (const Error& error) {
      return error.text();
    }
  }
  Published<Array<float>> parameters{2};

  using Remote = Methods<&Server::add, &Server::work, &Server::hang, &Server::stop_itself, &Server::crash,
                         &Server::save, &Server::count, concurrent<&Server::forward, 2>,
                         concurrent<&Server::backward, 2>, &Server::publish, &Server::starve, &Server::parameters>;

 private:
  void lock(std::mutex& first, std::mutex& second) {
    const std::lock_guard one(first);
    locked_.fetch_add(1);
    while (locked_.load() < 2) work_for(1);
    const std::lock_guard two(second);
  }

  const Config config_;
  std::atomic<bool> ends_ = false;
  std::atomic<std::uint64_t> turns_ = 0;
  int done_ = 0;
  std::mutex a_, b_;
  std::atomic<int> locked_ = 0;
};

// One of several replicas. The handler of replica 1 takes five times as long, on the processor.
class Shard {
 public:
  explicit Shard(int index) : index_(index) {}
  void work() {
    compute_for(index_ == 1 ? 10 : 2);
    ++done_;
  }
  using Remote = Methods<&Shard::work>;

 private:
  const int index_;
  int done_ = 0;
};

using Job = void (*)(Context&, Client<Server>, int index);

// Steps of 10 ms; replica 1 takes five times as long.
void step(Context& context, Client<Server> server, int index) {
  for (std::uint64_t i = 1; !context.stopping(); ++i) {
    work_for(index == 1 ? 50 : 10);
    server.call<&Server::add>();
    context.report({.step = i});
  }
}

// The same, when the work needs the processor.
void compute_step(Context& context, Client<Server> server, int index) {
  for (std::uint64_t i = 1; !context.stopping(); ++i) {
    compute_for(index == 1 ? 10 : 2);
    server.call<&Server::add>();
    context.report({.step = i});
  }
}

void press(Context& context, Client<Server> server, int) {
  while (!context.stopping()) server.call<&Server::work>();
}

// Worker 0 calls a server that has no processor, because worker 1 uses it.
void starve_it(Context& context, Client<Server> server, int index) {
  if (index == 0) return server.call<&Server::starve>();
  take_first_processor();
  while (!context.stopping()) compute_for(10);
}

void read_slowly(Context& context, Client<Server> server, int) {
  auto items = server.stream<&Server::count>();
  items.next();
  context.wait_for_stop();
}

// Prints as fast as the output is taken, and reports the number of its lines.
void print_lines(Context& context, Client<Server>, int) {
  constexpr std::uint64_t kBlock = 1000;
  for (std::uint64_t lines = 0; !context.stopping();) {
    std::string text;
    for (const std::uint64_t end = lines + kBlock; lines < end;)
      text += "step " + std::to_string(++lines) + " loss 0.25\n";
    for (std::string_view rest = text; !rest.empty();) {
      const ssize_t written = write(STDOUT_FILENO, rest.data(), rest.size());
      if (written <= 0) return;
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
    context.report({.step = lines});
  }
}

void crash_it(Context&, Client<Server> server, int) {
  try {
    server.call<&Server::crash>();
  } catch (const Error&) {
    // as it should be
  }
  server.call<&Server::add>();
}

void keep_versions(Context& context, Client<Server> server, int) {
  std::vector<Version<Array<float>>> kept;
  while (server.call<&Server::publish>().empty()) kept.push_back(server.read<&Server::parameters>());
  context.wait_for_stop();
}

void lock_both(Context&, Client<Server> server, int index) {
  if (index == 0) {
    server.call<&Server::forward>();
  } else {
    server.call<&Server::backward>();
  }
}

struct Trouble {
  int workers = 1;
  Job job;
};

const std::map<std::string, Trouble>& troubles() {
  static const std::map<std::string, Trouble> all = {
      {"healthy", {2, [](Context& context, Client<Server>, int) { context.wait_for_stop(); }}},
      {"straggler", {4, step}},
      {"computing", {4, compute_step}},
      {"printing", {1, print_lines}},
      {"saturated", {5, press}},
      {"starved", {2, starve_it}},
      {"stopped", {2, [](Context&, Client<Server> server, int) { server.call<&Server::stop_itself>(); }}},
      {"handler", {2, [](Context&, Client<Server> server, int) { server.call<&Server::hang>(); }}},
      {"stream", {1, read_slowly}},
      {"restart", {1, crash_it}},
      {"versions", {1, keep_versions}},
      {"disk", {2, [](Context&, Client<Server> server, int) { server.call<&Server::save>(); }}},
      {"locks", {2, lock_both}},
  };
  return all;
}

Program make_program(const Config& config) {
  Program program("situations");
  if (config.situation == "deadlock") {
    auto a = program.declare<Knot>({.name = "a"});
    auto c = program.add<Knot>({.name = "c"}, a);
    auto b = program.add<Knot>({.name = "b"}, c);
    program.define(a, b);
    return program;
  }
  if (config.situation == "barrier") {
    auto barrier = program.add<Gather<int>>({.name = "barrier"}, 3);
    const auto meet = [](Context& context, Client<Gather<int>> all, int index) {
      if (index == 2) context.wait_for_stop();
      all.call<&Gather<int>::gather>(static_cast<std::uint32_t>(index), std::uint64_t{1}, 7);
    };
    program.function({.name = "worker", .replicas = 3}, meet, barrier, index);
    return program;
  }
  if (config.situation == "shards") {
    auto shards = program.group<Shard>({.name = "shard", .replicas = 4}, index);
    const auto work = [](Context& context, Clients<Shard> all) {
      while (!context.stopping()) all.all<&Shard::work>();
    };
    program.function({.name = "worker"}, work, shards);
    return program;
  }
  const auto trouble = troubles().find(config.situation);
  if (trouble == troubles().end()) throw Error(ErrorKind::failed, "there is no situation " + config.situation);
  auto server = program.add<Server>({.name = "server", .on_failure = restart(3)}, context, config);
  const auto work = [job = trouble->second.job](Context& own, Client<Server> one, int i) { job(own, one, i); };
  program.function({.name = "worker", .replicas = trouble->second.workers}, work, server, index);
  return program;
}

}  // namespace
}  // namespace lp::test

int main(int argc, char** argv) { return lp::main<lp::test::Config>(argc, argv, lp::test::make_program); }

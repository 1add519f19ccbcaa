#include "tests/faults/programs_for_test.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <stdexcept>

#include "lp/base/error.h"
#include "tests/bench/scale.h"
#include "tests/faults/storm_for_test.h"
#include "tests/faults/transcript_for_test.h"

namespace lp::test {
namespace {

constexpr std::size_t kInFlight = 8;  // calls of one caller

void append(int file, const std::string& line) {
  if (write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::abort();
}

int open_log(const Config& config, const std::string& name) {
  if (config.log.empty()) return -1;
  return open((config.log + "/" + name).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

// Sends calls of all kinds, several at a time, until finish() is called; logs how each ended, in "outcomes".
template <class L>
class Caller {
 public:
  Caller(Client<L> ledger, int index, const Config& config)
      : ledger_(ledger),
        index_(index),
        kinds_(config.mode == "all kinds" ? 6 : 3),
        log_(open_log(config, "outcomes")) {}
  ~Caller() {
    if (log_ >= 0) close(log_);
  }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  void finish() { finish_ = true; }
  using Remote = Methods<&Caller::finish>;

  void run(Context& context) {
    Random random = context.random(0);
    for (std::uint64_t count = 0; !finish_ && !context.stopping(); ++count) {
      const std::uint64_t number = count * 16 + static_cast<std::uint64_t>(index_);
      const auto time = std::chrono::microseconds(50 + random.below(3000));
      switch (random.below(kinds_)) {
        case 0: calls_.push_back({'p', number, ledger_.template async<&L::plain>(number)}); break;
        case 1: calls_.push_back({'i', number, ledger_.template async<&L::again>(number)}); break;
        case 2: calls_.push_back({'o', number, ledger_.template async<&L::once>(number)}); break;
        case 3: calls_.push_back({'d', number, ledger_.within(time).template async<&L::in_time>(number)}); break;
        case 4: end('w', number, [&] { return send(number); }); break;
        default: end('s', number, [&] { return stream(number, time); });
      }
      if (calls_.size() >= kInFlight) end_one();
    }
    while (!calls_.empty()) end_one();
  }

 private:
  struct Going {
    char method;
    std::uint64_t number;
    Future<std::uint64_t> future;
  };

  void end_one() {
    Going call = std::move(calls_.front());
    calls_.pop_front();
    end(call.method, call.number, [&] { return call.future.get() == Ledger::answer(call.number); });
  }
  // One line: the method, the number, and how it ended: "value", "wrong", or the kind of the error and may_have_run.
  template <class F>
  void end(char method, std::uint64_t number, F is_right) {
    std::string how;
    try {
      how = is_right() ? "value" : "wrong";
    } catch (const Error& error) {
      how = std::string(to_string(error.kind())) + (error.may_have_run() ? "+" : "-");
    }
    append(log_, std::string(1, method) + " " + std::to_string(number) + " " + how + "\n");
  }
  bool send(std::uint64_t number) {
    ledger_.template send<&L::note>(number);
    return true;
  }
  bool stream(std::uint64_t number, Duration time) {
    std::uint64_t expected = Ledger::answer(number);
    for (const std::uint64_t item : ledger_.within(time).template stream<&L::items>(number)) {
      if (item != expected++) return false;
    }
    return expected == Ledger::answer(number) + Ledger::kItems;
  }

  Client<L> ledger_;
  const int index_;
  const std::uint64_t kinds_;  // kinds of calls
  const int log_;
  std::atomic<bool> finish_ = false;
  std::deque<Going> calls_;
};

template <class L>
Program make_ledger_of(const Config& config) {
  Program program("ledger");
  auto ledger = program.add<L>({.name = "ledger", .on_failure = restart(10'000, Duration::zero())}, context, config);
  program.group<Caller<L>>({.name = "caller", .replicas = config.nodes}, ledger, index, config);
  return program;
}

// Takes a cut for each step; fails as its mode defines.
class Saver {
 public:
  Saver(Context& context, const Config& config) : context_(context), config_(config) {}
  std::uint64_t advance() {
    context_.checkpoint(++step_);
    return step_;
  }
  std::uint64_t step() const { return step_; }
  int talk(int lines) const {
    for (int i = 0; i < lines; ++i) std::printf("%0100d\n", i);
    return lines;
  }
  void save(Checkpoint& out) const {
    out.put("step", step_);
    out.put("weights", Array<std::uint8_t>(step_ >= 4 && config_.mode == "large saves" ? 8 << 20 : 64 << 10));
  }
  void load(const Checkpoint& in) { step_ = in.get<std::uint64_t>("step"); }
  using Remote = Methods<&Saver::advance, &Saver::step, &Saver::talk>;

 private:
  Context& context_;
  const Config config_;
  std::uint64_t step_ = 0;
};

class SavingDriver {
 public:
  SavingDriver(Client<Saver> saver, const Config& config) : saver_(saver), config_(config) {}
  void run(Context& context) {
    while (saver_.call<&Saver::step>() < 6 && !context.stopping()) {
      saver_.call<&Saver::advance>();
      if (config_.mode == "talks") saver_.call<&Saver::talk>(2000);
    }
  }

 private:
  Client<Saver> saver_;
  const Config config_;
};

// For programs whose other nodes only serve: it ends when the program does.
void add_waiter(Program& program) {
  program.function({.name = "waiter"}, [](Context& context) { context.wait_for_stop(); });
}

}  // namespace

Ledger::Ledger(Context& context, const Config& config) : context_(context), log_(open_log(config, "executions")) {}
Ledger::~Ledger() {
  if (log_ >= 0) close(log_);
}

Ledger::Self Ledger::self() const { return {.pid = getpid(), .incarnation = context_.incarnation()}; }

std::uint64_t Ledger::execute(char method, std::uint64_t number) {
  append(log_,
         std::string(1, method) + " " + std::to_string(number) + " " + std::to_string(context_.incarnation()) + "\n");
  if (method == 'o') {
    if (counts_.size() <= number) counts_.resize(number + 1);
    ++counts_[number];
  }
  return answer(number);
}

Stream<std::uint64_t> Ledger::items(std::uint64_t number) {
  const std::uint64_t first = execute('s', number);
  for (std::uint64_t i = 0; i < kItems; ++i) co_yield first + i;
}

std::uint64_t SavingLedger::once(std::uint64_t number) {
  const std::uint64_t result = execute('o', number);
  context_.checkpoint(++step_);
  return result;
}

void SavingLedger::save(Checkpoint& out) const {
  out.put("step", step_);
  out.put("counts", counts_);
}

void SavingLedger::load(const Checkpoint& in) {
  step_ = in.get<std::uint64_t>("step");
  counts_ = in.get<std::vector<std::uint32_t>>("counts");
}

Service::Service(Context& context, int index, const Config& config) {
  const bool first = index == 0;
  if (config.mode == "constructor throws" && first) throw std::invalid_argument("no such model");
  if (config.mode == "exits early" && first) _exit(3);
  if (config.mode == "killed early" && first) raise(SIGKILL);
  if (config.mode == "constructs for ever" && first) context.wait_for_stop();
}

int Service::pid() const { return getpid(); }

void Service::spin() {
  stuck_ = true;
  for (volatile std::uint64_t i = 0;;) i = i + 1;
}

void Service::block() {
  stuck_ = true;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) std::abort();
  char byte = 0;
  while (read(ends[0], &byte, 1) <= 0) {
  }
}

Future<int> Service::never() {
  promises_.emplace_back();
  return promises_.back().future();
}

Array<std::uint8_t> Service::make(std::uint64_t size, std::uint8_t byte) const {
  auto bytes = Array<std::uint8_t>::uninitialized(size);
  std::ranges::fill(bytes.edit(), byte);
  return bytes;
}

int Hoarder::hoard(int calls) {
  constexpr std::uint64_t kSize = 1 << 20;
  std::vector<Future<Array<std::uint8_t>>> replies;
  for (int i = 0; i < calls; ++i) {
    replies.push_back(service_.async<&Service::make>(kSize, static_cast<std::uint8_t>(i)));
  }
  int right = 0;
  for (int i = 0; i < calls; ++i) {
    if (i == 1) raise(SIGSTOP);
    const Array<std::uint8_t> reply = replies[static_cast<std::size_t>(i)].get();
    if (reply.size() == kSize && reply[kSize - 1] == static_cast<std::uint8_t>(i)) ++right;
  }
  return right;
}

int RingMember::around(int left) { return left == 0 ? context_.index() : next_.call<&RingMember::around>(left - 1); }

Program make_ledger(const Config& config) {
  return config.cuts ? make_ledger_of<SavingLedger>(config) : make_ledger_of<Ledger>(config);
}

Program make_services(const Config& config) {
  Program program("services");
  program.group<Service>({.name = "service", .replicas = config.nodes}, context, index, config);
  add_waiter(program);
  return program;
}

Program make_hoarder(const Config& config) {
  Program program("hoarder");
  const auto service = program.add<Service>({.name = "service"}, context, 0, config);
  program.add<Hoarder>({.name = "hoarder"}, service);
  add_waiter(program);
  return program;
}

Program make_saving(const Config& config) {
  Program program("saving");
  const auto saver = program.add<Saver>({.name = "saver"}, context, config);
  program.add<SavingDriver>({.name = "driver"}, saver, config);
  return program;
}

Program make_ring(const Config& config) {
  Program program("ring");
  std::vector<Handle<RingMember>> members;
  for (int i = 0; i < config.nodes; ++i)
    members.push_back(program.declare<RingMember>({.name = std::string(1, static_cast<char>('a' + i))}));
  for (std::size_t i = 0; i < members.size(); ++i)
    program.define(members[i], members[(i + 1) % members.size()], context);
  return program;
}

Program make_bad(const Config& config) {
  Program program("bad");
  if (config.mode == "nothing") return program;
  add_waiter(program);
  if (config.mode == "dangling") {
    program.add<Caller<Ledger>>({.name = "caller"}, Handle<Ledger>("nobody"), 0, config);
  } else if (config.mode == "empty group") {
    program.group<Service>({.name = "service", .replicas = 0}, context, index, config);
  } else if (config.mode == "two of a name") {
    program.add<Service>({.name = "service"}, context, 0, config);
    program.add<Service>({.name = "service"}, context, 0, config);
  } else if (config.mode == "impure") {
    program.add<Service>({.name = "service-" + std::to_string(now().time_since_epoch().count())}, context, 0, config);
  } else if (config.mode == "impure in children") {
    program.add<Service>({.name = std::getenv("LP_NODE") == nullptr ? "launcher" : "node"}, context, 0, config);
  }
  return program;
}

const Programs& programs() {
  static const Programs all = Programs()
                                  .add<Config>("ledger", make_ledger)
                                  .add<Config>("services", make_services)
                                  .add<Config>("hoarder", make_hoarder)
                                  .add<Config>("saving", make_saving)
                                  .add<Config>("ring", make_ring)
                                  .add<Config>("training", make_training)
                                  .add<Config>("summing", make_summing)
                                  .add<Config>("bad", make_bad)
                                  .add<StormConfig>("storm", make_storm)
                                  .add<TranscriptConfig>("transcript", make_transcript)
                                  .add<ScaleConfig>("echoes", make_echoes);
  return all;
}

}  // namespace lp::test

#pragma once
// The programs that the tests of this folder launch and disturb.

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "launchers/programs.h"
#include "launchers/run.h"
#include "lp/checkpoint/checkpoint.h"
#include "lp/lp.h"

namespace lp::test {

struct Config {
  std::string mode = "finish";  // the fault: see programs_for_test.cc
  std::string log{};            // a directory for executions and for how calls ended
  int nodes = 3;
  bool cuts = false;
};

// Logs every execution outside its memory, in "executions", and remembers its executions.
class Ledger {
 public:
  struct Self {
    int pid = 0;
    std::uint32_t incarnation = 0;
  };

  Ledger(Context& context, const Config& config);
  ~Ledger();
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  std::uint64_t plain(std::uint64_t number) { return execute('p', number); }
  std::uint64_t again(std::uint64_t number) { return execute('i', number); }
  std::uint64_t once(std::uint64_t number) { return execute('o', number); }
  std::uint64_t in_time(std::uint64_t number) { return execute('d', number); }
  void note(std::uint64_t number) { execute('w', number); }
  Stream<std::uint64_t> items(std::uint64_t number);
  Self self() const;
  // How often each number was executed by `once`, as far as this service knows.
  std::vector<std::uint32_t> counts() const { return counts_; }

  static std::uint64_t answer(std::uint64_t number) { return number * 3 + 1; }
  static constexpr std::uint64_t kItems = 3;  // length of a stream

  using Remote = Methods<&Ledger::plain, idempotent<&Ledger::again>, lp::once<&Ledger::once>, &Ledger::in_time,
                         &Ledger::note, &Ledger::items, idempotent<&Ledger::self>, idempotent<&Ledger::counts>>;

 protected:
  std::uint64_t execute(char method, std::uint64_t number);

  Context& context_;
  std::vector<std::uint32_t> counts_;
  std::uint64_t step_ = 0;

 private:
  int log_;
};

// Takes a cut in each call of `once`.
class SavingLedger : public Ledger {
 public:
  using Ledger::Ledger;
  std::uint64_t once(std::uint64_t number);
  void save(Checkpoint& out) const;
  void load(const Checkpoint& in);

  using Remote = Methods<&Ledger::plain, idempotent<&Ledger::again>, lp::once<&SavingLedger::once>, &Ledger::in_time,
                         &Ledger::note, &Ledger::items, idempotent<&Ledger::self>, idempotent<&Ledger::counts>>;
};

// Answers, or does not, as its mode defines.
class Service {
 public:
  Service(Context& context, int index, const Config& config);
  int add(int a, int b) const { return a + b; }
  int pid() const;
  std::uint64_t total() const { return total_; }
  std::uint64_t count(std::uint64_t by) { return total_ += by; }
  void spin();                                  // never returns
  void block();                                 // in read(2), for ever
  bool stuck() const { return stuck_.load(); }  // a handler does that
  Future<int> never();                          // has no reply
  Array<std::uint8_t> echo(Array<std::uint8_t> bytes) const { return bytes; }
  std::uint64_t size(Array<std::uint8_t> bytes) const { return bytes.size(); }
  Array<std::uint8_t> make(std::uint64_t size, std::uint8_t byte) const;
  using Remote =
      Methods<&Service::add, &Service::pid, &Service::total, lp::once<&Service::count>, &Service::spin, &Service::block,
              &Service::never, &Service::echo, &Service::size, &Service::make, concurrent<&Service::stuck, 1>>;

 private:
  std::uint64_t total_ = 0;
  std::atomic<bool> stuck_ = false;
  std::vector<Promise<int>> promises_;
};

// Requests more than it takes.
class Hoarder {
 public:
  explicit Hoarder(Client<Service> service) : service_(service) {}
  // Calls make(1 MiB) `calls` times at once, stops its own process when the first reply is there, and takes the others
  // when it continues. Returns how many were right.
  int hoard(int calls);
  using Remote = Methods<&Hoarder::hoard>;

 private:
  Client<Service> service_;
};

// Calls the next member of a ring; the last one calls the first.
class RingMember {
 public:
  RingMember(Client<RingMember> next, Context& context) : next_(next), context_(context) {}
  int around(int left);
  using Remote = Methods<&RingMember::around>;

 private:
  Client<RingMember> next_;
  Context& context_;
};

// callers ──▶ ledger
Program make_ledger(const Config& config);
// services that nobody calls; `nodes` is their number
Program make_services(const Config& config);
// A hoarder ──▶ service/0
Program make_hoarder(const Config& config);
// A service that saves, and a driver that takes cuts.
Program make_saving(const Config& config);
// a ──▶ b ──▶ c ──▶ a, a ring of `nodes` members
Program make_ring(const Config& config);
// workers ──▶ servers: synchronous training; see training_test.cc.
Program make_training(const Config& config);
// summing ◀──▶ collective: tensors that workers start; see fused_allreduce_test.cc.
Program make_summing(const Config& config);
// A program that cannot start: see mode.
Program make_bad(const Config& config);

const Programs& programs();

}  // namespace lp::test

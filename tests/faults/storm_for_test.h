#pragma once
// A program whose processes send each other values of all sizes, waiting and pipelined, while some of them are killed.
// It also lists a process's descriptors and mappings, to check that none remain of dead processes.

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "lp/lp.h"

namespace lp::test {

struct StormConfig {
  int stores = 2;
  int callers = 2;
  std::string log{};  // a directory: "executions", "outcomes" and "wrong"
};

// This process's shared memory and descriptors.
struct Usage {
  std::uint64_t descriptors = 0;
  std::uint64_t mappings = 0;  // mapped regions of shared memory
  std::uint64_t heap = 0;      // bytes of arrays
};
Usage usage_now();

struct Self {
  int pid = 0;
  std::uint32_t incarnation = 0;
};

class Store {
 public:
  Store(Context& context, const StormConfig& config) : context_(context), log_(config.log) {}
  std::vector<std::uint8_t> bytes(std::vector<std::uint8_t> values) { return values; }
  Array<std::uint8_t> array(Array<std::uint8_t> values) { return values; }
  Array<std::uint8_t> made(std::uint64_t size, std::uint8_t seed) const;
  std::uint64_t once(std::uint64_t number);
  Self self() const;
  Usage usage() const { return usage_now(); }
  using Remote = Methods<&Store::bytes, idempotent<&Store::array>, &Store::made, lp::once<&Store::once>,
                         idempotent<&Store::self>, idempotent<&Store::usage>>;

 private:
  Context& context_;
  const std::string log_;
};

// Calls the stores, as caller `who` (each has another number), until `finished`. Violations are written to "wrong".
void storm(std::vector<Client<Store>> stores, const std::string& log, std::uint64_t who,
           const std::atomic<bool>& finished);

// Runs storm() in two threads.
class Storming {
 public:
  Storming(Clients<Store> stores, int index, Context& context, const StormConfig& config)
      : stores_(std::move(stores)), index_(index), context_(context), log_(config.log) {}
  void run(Context& context);
  Self self() const;
  void finish() { finished_ = true; }
  bool has_finished() const;
  using Remote =
      Methods<idempotent<&Storming::self>, idempotent<&Storming::finish>, idempotent<&Storming::has_finished>>;

 private:
  Clients<Store> stores_;
  const int index_;
  Context& context_;
  const std::string log_;
  std::atomic<bool> finished_ = false;
  std::atomic<bool> ended_ = false;
};

// storming ──▶ store, processes that are restarted whenever they are killed
Program make_storm(const StormConfig& config);

}  // namespace lp::test

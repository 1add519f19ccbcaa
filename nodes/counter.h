#pragma once
// Counts that the nodes of a program add up together: environment steps, episodes, examples, updates. A node that must
// not go on until a count is high enough waits for it here.
//
//   auto counter = program.add<lp::Counter>({.name = "counter"});
//
//   const lp::Counts counts = counter.call<&lp::Counter::add>(lp::Counts{{"episodes", 1}, {"steps", steps}});
//
// Nodes: their handlers run in their turn.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lp/checkpoint/checkpoint.h"
#include "lp/program/context.h"
#include "lp/rpc/core/future.h"
#include "lp/rpc/core/method.h"

namespace lp {

using Counts = std::map<std::string, std::int64_t>;

// A restarted Counter begins at 0.
class Counter {
 public:
  static constexpr std::size_t kMostNames = 10'000;
  static constexpr Interval kLongestWait = 1440_min;  // for reached; Client::within makes it shorter

  // Adds the increments and returns all counts. A repeated call counts once. Error::failed, with nothing added, when an
  // increment is negative, when a count would pass 2^63 - 1, or when there would be more than kMostNames names.
  Counts add(const Counts& increments);
  Counts counts() const { return counts_; }
  // Ready as soon as the count `name` is at least `count`. Returns the count at that moment.
  Future<std::int64_t> reached(std::string name, std::int64_t count);

  using Remote =
      Methods<once<&Counter::add>, idempotent<&Counter::counts>, deadline<idempotent<&Counter::reached>, kLongestWait>>;

 protected:
  std::int64_t count(const std::string& name) const;
  void set(Counts counts) { counts_ = std::move(counts); }

 private:
  struct Waiting {
    std::string name;
    std::int64_t count;
    Promise<std::int64_t> promise;
  };

  Counts counts_{};
  std::vector<Waiting> waiting_{};
};

// The count that decides when the program takes a cut: each time it reaches or passes a multiple of `every`, a cut with
// that multiple as its step is taken. The other nodes that save take part in that cut.
struct CutBy {
  std::string count = "steps";
  std::int64_t every = 1000;
};

// A restarted SavedCounter goes on from the program's last cut. A Client<Counter> may refer to one.
class SavedCounter : public Counter {
 public:
  // Error::failed when `every` is not positive.
  SavedCounter(Context& context, CutBy cuts);

  Counts add(const Counts& increments);

  void save(Checkpoint& out) const;
  void load(const Checkpoint& in);

  using Remote = Methods<once<&SavedCounter::add>, idempotent<&SavedCounter::counts>,
                         deadline<idempotent<&SavedCounter::reached>, kLongestWait>>;

 private:
  Context& context_;
  const CutBy cuts_;
};

}  // namespace lp

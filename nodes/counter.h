#pragma once
// Counts that the nodes of a program add up together: environment steps, episodes, examples, updates. Who must not go
// on until there are enough of something waits for that here.
//
//   auto counter = program.add<lp::Counter>({.name = "counter"});
//   ...
//   const lp::Counts counts = counter.call<&lp::Counter::add>(lp::Counts{{"episodes", 1}, {"steps", steps}});
//
// Nodes: their handlers run in their turn.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lp/checkpoint/checkpoint.h"
#include "lp/program/context.h"
#include "lp/rpc/core/future.h"
#include "lp/rpc/core/method.h"

namespace lp {

using Counts = std::map<std::string, std::int64_t>;

// One that is restarted begins at 0.
class Counter {
 public:
  static constexpr std::size_t kMostNames = 10'000;
  static constexpr int kLongestWait = 24 * 3600 * 1000;  // milliseconds, for reached; Client::within makes it shorter

  // Adds, and returns all counts. A call counts once. Error::failed, with nothing added, when an increment is negative,
  // when a count would pass 2^63 - 1, and for more names than kMostNames.
  Counts add(const Counts& increments);
  Counts counts() const { return counts_; }
  // As soon as this count is so high: what it is then.
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

// By which count the program's cuts go: each time that it reaches a multiple of `every`, or passes it, a cut of that
// multiple is taken. The other nodes that save cut there too.
struct CutBy {
  std::string count = "steps";
  std::int64_t every = 1000;
};

// One that is restarted goes on from the program's last cut: a Client<Counter> may be one of this.
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

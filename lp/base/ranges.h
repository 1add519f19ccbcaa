#pragma once
// A set of positions, as ranges that neither overlap nor touch. A value, for one thread at a time.

#include <cstddef>
#include <map>

namespace lp {

class Ranges {
 public:
  struct Range {
    std::size_t begin;
    std::size_t end;
  };

  // Adds the positions from begin to before end, none of which is in the set.
  void add(Range range);
  // Returns how many of the positions were in the set.
  std::size_t remove(Range range);
  // The range with the highest positions, which leaves the set. It must not be empty.
  Range take_last();
  std::size_t count() const { return count_; }  // positions
  bool empty() const { return ends_.empty(); }

 private:
  std::map<std::size_t, std::size_t> ends_;  // by beginning
  std::size_t count_ = 0;
};

}  // namespace lp

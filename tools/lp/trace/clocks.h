#pragma once
// Aligns the clocks of the hosts of a run. A message arrives after it has left, so it bounds how far the clock of its
// sender is ahead. All bounds together leave a range for each clock, of which the middle is taken: for one question and
// its answer that is the formula of NTP (RFC 5905, section 8). As the bounds are differences, the middles keep all of
// them, so every call stays around its handler. Owned by one thread.

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/scheduler.h"

namespace lp::tool {

class Clocks {
 public:
  // The number of the clock of this name. All others are aligned to the first one, which has number 0.
  std::size_t number_of(const std::string& name);
  std::size_t size() const { return numbers_.size(); }

  // A message: when it left, on the clock of its sender, and when it was there, on that of its receiver.
  void add_message(std::size_t sender, std::size_t receiver, Time left, Time arrived);

  // How much is to be added to the times of each clock, and how wrong that may be.
  struct Offset {
    Duration offset{};
    Duration error{};  // kForever: nothing is known of the clock
  };
  // Where clocks drift so much that the bounds contradict one another, they are widened until they do not.
  std::vector<Offset> offsets() const;

 private:
  std::map<std::string, std::size_t> numbers_;
  // The most that the second clock's offset may exceed the first one's.
  std::map<std::pair<std::size_t, std::size_t>, Duration> most_;
};

}  // namespace lp::tool

#pragma once
// The node processes that an agent has started and not yet reaped. The agent owns it and uses it in its one thread.

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "launchers/agent/child.h"

namespace lp::launch {

class ChildTable {
 public:
  Child& add(std::unique_ptr<Child> child);
  void remove(const Child& child);

  // Return null when there is none.
  Child* find(std::uint64_t serial) const;
  Child* find_pid(pid_t pid) const;
  Child* find_process(std::size_t process, std::uint32_t incarnation) const;

  std::vector<Child*> with_gpus() const;

  bool empty() const { return children_.empty(); }
  const std::unordered_map<std::uint64_t, std::unique_ptr<Child>>& all() const { return children_; }  // by serial

 private:
  std::unordered_map<std::uint64_t, std::unique_ptr<Child>> children_;
  std::unordered_map<pid_t, Child*> by_pid_;
  std::unordered_map<std::size_t, Child*> by_unit_;  // the newest incarnation
};

}  // namespace lp::launch

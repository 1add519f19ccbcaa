#include "launchers/agent/child_table.h"

#include <utility>

namespace lp::launch {

Child& ChildTable::add(std::unique_ptr<Child> child) {
  Child& added = *child;
  by_pid_[added.pid] = &added;
  by_unit_[added.process] = &added;
  children_.emplace(added.serial, std::move(child));
  return added;
}

void ChildTable::remove(const Child& child) {
  by_pid_.erase(child.pid);
  if (find_process(child.process, child.incarnation) == &child) by_unit_.erase(child.process);
  children_.erase(child.serial);
}

Child* ChildTable::find(std::uint64_t serial) const {
  const auto at = children_.find(serial);
  return at == children_.end() ? nullptr : at->second.get();
}

Child* ChildTable::find_pid(pid_t pid) const {
  const auto at = by_pid_.find(pid);
  return at == by_pid_.end() ? nullptr : at->second;
}

Child* ChildTable::find_process(std::size_t process, std::uint32_t incarnation) const {
  const auto at = by_unit_.find(process);
  return at != by_unit_.end() && at->second->incarnation == incarnation ? at->second : nullptr;
}

std::vector<Child*> ChildTable::with_gpus() const {
  std::vector<Child*> found;
  for (const auto& [serial, child] : children_) {
    if (!child->gpus.empty()) found.push_back(child.get());
  }
  return found;
}

}  // namespace lp::launch

#include "nodes/stream/splits.h"

#include <utility>

namespace lp::dataflow {

Split& Splits::open(const std::string& name, std::uint32_t group) {
  const auto [at, added] = splits_.try_emplace(name);
  if (added) {
    at->second = {.name = name, .group = group, .used = now()};
    for (Follower* const one : followers_) one->opened(at->second);
  }
  return at->second;
}

void Splits::close(const std::string& name) {
  const auto at = splits_.find(name);
  if (at == splits_.end()) return;
  if (current_ == &at->second) current_ = nullptr;
  for (Follower* const one : followers_) one->closed(at->second);
  splits_.erase(at);
}

void Splits::set_idle(Split& split, bool idle) {
  if (std::exchange(split.idle, idle) == idle) return;
  for (Follower* const one : followers_) one->changed(split);
}

void Splits::read(Split& split) {
  split.used = now();
  set_idle(split, false);
  current_ = &split;
}

}  // namespace lp::dataflow

#include "lp/rpc/core/published.h"

#include <algorithm>
#include <set>

#include "lp/rpc/core/call_context.h"
#include "lp/rpc/core/local_process.h"
#include "lp/rpc/core/service_instance.h"

namespace lp::rpc {
namespace {

// Returns the name of the caller of the current handler.
std::string caller_here() {
  const CallContext* const context = current_call_context();
  if (context == nullptr) return "this process";
  const CallPath path = callers_of(*context);
  return path.size == 0 ? "a reader outside the program" : context->node->process().name(path.nodes[path.size - 1]);
}

}  // namespace

Publication::Publication(std::size_t old_versions)
    : old_versions_(old_versions),
      node_(current_call_context() == nullptr ? nullptr : current_call_context()->node),
      name_{.origin = new_chain()} {
  if (node_ != nullptr) node_->add(*this);
}

Publication::~Publication() {
  if (node_ != nullptr) node_->remove(*this);
}

std::optional<HeldVersions> Publication::held() const {
  const std::lock_guard lock(mutex_);
  const Hold* oldest = nullptr;
  std::set<std::uint64_t> held;
  for (const Hold& hold : holds_) {
    if (hold.token.expired()) continue;
    held.insert(hold.number);
    if (oldest == nullptr || hold.number < oldest->number) oldest = &hold;
  }
  if (oldest == nullptr) return std::nullopt;
  return HeldVersions{.newest = name_.number,
                      .held = held.size(),
                      .limit = old_versions_,
                      .oldest = oldest->number,
                      .reader = oldest->reader,
                      .seconds = to_seconds(now() - oldest->since)};
}

std::uint64_t Publication::publish(std::shared_ptr<const void> value) {
  std::shared_ptr<const void> replaced;  // released outside the lock
  const std::lock_guard lock(mutex_);
  std::erase_if(holds_, [](const Hold& hold) { return hold.token.expired(); });
  std::set<std::uint64_t> held;
  for (const Hold& hold : holds_) held.insert(hold.number);
  if (held.size() > old_versions_) {
    const auto oldest = std::min_element(holds_.begin(), holds_.end(),
                                         [](const Hold& a, const Hold& b) { return a.number < b.number; });
    throw Error(ErrorKind::overloaded,
                std::to_string(held.size()) + " old versions are still held by readers, but only " +
                    std::to_string(old_versions_) + " are allowed; the oldest, " + std::to_string(oldest->number) +
                    ", by " + oldest->reader + ": destroy a Version before you read the next one");
  }
  replaced = std::exchange(value_, std::move(value));
  return ++name_.number;
}

Publication::Reading Publication::read(const VersionName& known) {
  const std::lock_guard lock(mutex_);
  if (value_ == nullptr) throw Error(ErrorKind::failed, "nothing has been published yet");
  if (known == name_) return {.name = name_, .value = nullptr};
  if (holds_.size() >= prune_at_) {
    std::erase_if(holds_, [](const Hold& hold) { return hold.token.expired(); });
    prune_at_ = std::max<std::size_t>(16, 2 * holds_.size());
  }
  // Each reader gets an owner of its own, so that readers can be distinguished.
  auto token = std::make_shared<std::shared_ptr<const void>>(value_);
  holds_.push_back({.token = token, .number = name_.number, .reader = caller_here(), .since = about_now()});
  const void* const value = value_.get();
  return {.name = name_, .value = std::shared_ptr<const void>(std::move(token), value)};
}

Publication::Reading VersionCache::find(std::uint64_t publication) const {
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : entries_) {
    if (entry.publication != publication) continue;
    Publication::Reading reading{.name = entry.name, .value = entry.value.lock()};
    if (reading.value == nullptr) reading.name = {};
    return reading;
  }
  return {};
}

void VersionCache::put(std::uint64_t publication, const Publication::Reading& reading, bool keep) {
  Entry made{.publication = publication, .name = reading.name, .value = reading.value, .kept = nullptr};
  if (keep) made.kept = reading.value;
  const std::lock_guard lock(mutex_);
  for (Entry& entry : entries_) {
    if (entry.publication == publication) return std::swap(entry, made);
  }
  entries_.push_back(std::move(made));
}

}  // namespace lp::rpc

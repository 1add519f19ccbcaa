#include "lp/rpc/core/budget.h"

#include <algorithm>

namespace lp::rpc {

void Budget::Share::give_back() noexcept {
  if (budget_ != nullptr) std::exchange(budget_, nullptr)->give_back(*account_, bytes_);
}

bool Budget::fits(const Account& account, std::size_t bytes) const {
  const auto room = [bytes](std::size_t used, std::size_t most) { return used == 0 || used + bytes <= most; };
  return room(account.used_, each_) && room(used_, all_);
}

Budget::Share Budget::take_locked(Account& account, std::size_t bytes) {
  account.used_ += bytes;
  used_ += bytes;
  return Share(*this, account, bytes);
}

Budget::Share Budget::take(Account& account, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const bool first =
      std::none_of(asked_.begin(), asked_.end(), [&](const Asked& one) { return one.account == &account; });
  return first && fits(account, bytes) ? take_locked(account, bytes) : Share();
}

void Budget::ask(Account& account, std::size_t bytes, Granted granted) {
  if (Share share = take(account, bytes)) return granted(std::move(share));
  {
    const std::lock_guard lock(mutex_);
    asked_.push_back({&account, bytes, std::move(granted)});
  }
  give_back(account, 0);  // there may be room by now
}

void Budget::give_back(Account& account, std::size_t bytes) noexcept {
  std::list<std::pair<Granted, Share>> granted;
  {
    const std::lock_guard lock(mutex_);
    account.used_ -= bytes;
    used_ -= bytes;
    for (Asked& one : asked_) one.account->passed_over_ = false;
    for (auto one = asked_.begin(); one != asked_.end();) {
      Account& of = *one->account;
      if (of.passed_over_ || !fits(of, one->bytes)) {
        of.passed_over_ = true;
        ++one;
      } else {
        granted.emplace_back(std::move(one->granted), take_locked(of, one->bytes));
        one = asked_.erase(one);
      }
    }
  }
  for (auto& [notify, share] : granted) notify(std::move(share));
}

std::size_t Budget::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

Bounds Bounds::of(std::size_t memory) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  return {.service = std::clamp(memory / 128, 64 * kMiB, 512 * kMiB), .process = std::max(memory / 8, 256 * kMiB)};
}

}  // namespace lp::rpc

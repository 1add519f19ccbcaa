#pragma once
// How many bytes may wait: what queues at each service, and what waits to leave for it, with a bound for each service
// and one for all of them in the process. Whoever finds no room asks, and has it when its turn comes. Owned by the Hub;
// thread-safe.

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

#include "lp/base/function.h"

namespace lp::internal {

class Budget {
 public:
  // Calls of fewer bytes are not counted: their number is bounded.
  static constexpr std::size_t kSmall = std::size_t{1} << 10;

  // What queues at one service, or waits to leave for it.
  class Account {
   private:
    friend class Budget;
    std::size_t used_ = 0;
    bool passed_over_ = false;  // in the scan that goes on, an earlier one that asks has no room
  };

  // Room that one call has, until it is given back or goes.
  class Share {
   public:
    Share() = default;
    Share(Share&& other) noexcept { *this = std::move(other); }
    Share& operator=(Share&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(account_, other.account_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Share() { give_back(); }
    // Who waits for the room gets it, in this thread. Not with a lock that one of those needs.
    void give_back() noexcept;
    explicit operator bool() const { return budget_ != nullptr; }

   private:
    friend class Budget;
    Share(Budget& budget, Account& account, std::size_t bytes) : budget_(&budget), account_(&account), bytes_(bytes) {}
    Budget* budget_ = nullptr;
    Account* account_ = nullptr;
    std::size_t bytes_ = 0;
  };
  using Granted = Function<void(Share)>;

  // At most so many bytes for each account and for all; one call passes however large it is, when nothing else is
  // there.
  Budget(std::size_t each, std::size_t all) : each_(each), all_(all) {}
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  std::size_t each() const { return each_; }
  // Nothing when there is no room, or others have asked before.
  Share take(Account& account, std::size_t bytes);
  // Calls `granted` when there is room: now, or in the thread that gives some back. Those of an account have it in the
  // order in which they asked.
  void ask(Account& account, std::size_t bytes, Granted granted);
  std::size_t used() const;

 private:
  struct Asked {
    Account* account;
    std::size_t bytes;
    Granted granted;
  };

  bool fits(const Account& account, std::size_t bytes) const;
  Share take_locked(Account& account, std::size_t bytes);
  void give_back(Account& account, std::size_t bytes) noexcept;

  const std::size_t each_;
  const std::size_t all_;
  mutable std::mutex mutex_;
  std::size_t used_ = 0;
  std::list<Asked> asked_;
};

// The bounds of a process on a machine of so much memory.
struct Bounds {
  std::size_t service;  // bytes
  std::size_t process;

  static Bounds of(std::size_t memory);
};

}  // namespace lp::internal

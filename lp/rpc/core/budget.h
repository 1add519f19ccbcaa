#pragma once
// Bounds the bytes of calls that wait in the queue of each service or wait to leave for it. There is a bound for each
// service and one for all services of the process. A call that finds no room asks for it, and gets it when its turn
// comes. Owned by the LocalProcess; thread-safe.

#include <cstddef>
#include <list>
#include <mutex>
#include <utility>

#include "lp/base/function.h"

namespace lp::rpc {

class Budget {
 public:
  // Calls of fewer bytes are not counted: their number is bounded.
  static constexpr std::size_t kSmall = std::size_t{1} << 10;

  // The calls that queue at one service, or wait to leave for it.
  class Account {
   private:
    friend class Budget;
    std::size_t used_ = 0;
    bool passed_over_ = false;  // in the current scan, an earlier request of this account has no room
  };

  // The room of one call, until it is given back or destroyed.
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
    // Gives the room to the calls that wait for it, in this thread. Do not hold a lock that one of them needs.
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

  // Bounds the bytes of each account and of all accounts. One call passes however large it is, when nothing else is
  // there.
  Budget(std::size_t each, std::size_t all) : each_(each), all_(all) {}
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  std::size_t each() const { return each_; }
  // Returns an empty share when there is no room, or others have asked before.
  Share take(Account& account, std::size_t bytes);
  // Calls `granted` when there is room: now, or in the thread that gives some back. Requests of one account get room in
  // the order in which they asked.
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

// The bounds of a process on a machine with this memory.
struct Bounds {
  std::size_t service;  // bytes
  std::size_t process;

  static Bounds of(std::size_t memory);
};

}  // namespace lp::rpc

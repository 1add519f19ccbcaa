#pragma once
// Members of a group, and calls to several of them at once. A snapshot: it does not change when members come and go.
// The snapshot that a node gets has the whole group; latest() has the members that are there now. A value, like Client.

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "lp/base/hash.h"
#include "lp/rpc/client.h"
#include "lp/rpc/membership.h"

namespace lp {

// The answer of one replica: a value, or the error instead.
template <class T>
class Outcome {
 public:
  explicit Outcome(rpc::Stored<T> value) : result_(std::move(value)) {}
  explicit Outcome(Error error) : result_(std::move(error)) {}

  bool has_value() const { return result_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  // Throws the error when there is no value.
  const rpc::Stored<T>& value() const& {
    if (!has_value()) throw Error(error());
    return std::get<0>(result_);
  }
  rpc::Stored<T>&& value() && {
    if (!has_value()) throw Error(error());
    return std::get<0>(std::move(result_));
  }
  const Error& error() const { return std::get<1>(result_); }

 private:
  std::variant<rpc::Stored<T>, Error> result_;
};

// Replies in the order in which they come: for (auto& [replica, outcome] : clients.each<&S::m>(...)).
template <class T>
class Replies {
 public:
  struct Reply {
    std::size_t replica = 0;  // position in the snapshot
    Outcome<T> outcome;
  };

  explicit Replies(std::vector<Future<T>> futures)
      : queue_(std::make_shared<rpc::StreamQueue<Reply>>()), left_(futures.size()) {
    for (std::size_t i = 0; i < futures.size(); ++i) {
      rpc::StateBase& state = *futures[i].state();
      rpc::on_ready_anywhere(state, [queue = queue_, i, from = futures[i].state()] {
        queue->put({i, from->failed() ? Outcome<T>(from->error()) : Outcome<T>(std::move(from->template value<T>()))});
      });
    }
  }

  // Returns the next reply, or nothing when all have come. Each call ends at its own deadline, so this does too.
  std::optional<Reply> next() {
    if (left_ == 0) return std::nullopt;
    --left_;
    Future<std::optional<Reply>> future = queue_->next();
    return future.get();
  }

  class Iterator {
   public:
    explicit Iterator(Replies* replies) : replies_(replies), reply_(replies->next()) {}
    Reply& operator*() { return *reply_; }
    Iterator& operator++() {
      reply_ = replies_->next();
      return *this;
    }
    bool operator==(std::default_sentinel_t) const { return !reply_; }

   private:
    Replies* replies_;
    std::optional<Reply> reply_;
  };
  Iterator begin() { return Iterator(this); }
  std::default_sentinel_t end() const { return {}; }

 private:
  std::shared_ptr<rpc::StreamQueue<Reply>> queue_;  // shared with the calls that fill it
  std::size_t left_;
};

template <class S>
class Clients {
 public:
  // Made by dereferencing a GroupHandle: the whole group, epoch 0. Without `membership` the clients are no group, and
  // do not change.
  explicit Clients(std::vector<Client<S>> all, rpc::Membership* membership = nullptr)
      : all_(std::move(all)), membership_(membership) {
    if (membership != nullptr) group_ = std::make_shared<const std::vector<Client<S>>>(all_);
  }

  // Returns the members of the group that are there now.
  Clients latest() const { return group_ == nullptr ? *this : Clients(group_, membership_); }
  // Returns a future that is ready when the group differs from this snapshot, at once if it does already. It fails with
  // `stopped` when the run ends first.
  [[nodiscard]] Future<void> change() const {
    if (group_ == nullptr) throw Error(ErrorKind::failed, "clients that are no group do not change");
    return membership_->change(epoch_);
  }
  // Counts the changes of the group: two nodes with the same epoch see the same members.
  std::uint64_t epoch() const { return epoch_; }
  // Returns the number in its group of the client at this position: 3 for "worker/3".
  std::size_t replica(std::size_t position) const { return replicas_.empty() ? position : replicas_[position]; }

  std::size_t size() const { return all_.size(); }
  bool empty() const { return all_.empty(); }
  // Throws Error::failed when there is no client at this position.
  const Client<S>& operator[](std::size_t position) const {
    if (position >= all_.size()) rpc::no_client(position, all_.size());
    return all_[position];
  }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

  // Calls every replica with the same arguments.
  template <auto M, class... Args>
  [[nodiscard]] auto async(const Args&... args) const {
    return start<M>(/*awaited=*/false, args...);
  }

  // Waits for every reply, in replica order. The first failure cancels the rest and is thrown.
  template <auto M, class... Args>
  auto all(const Args&... args) const {
    auto gathered = when_all(start<M>(/*awaited=*/true, args...));
    auto values = gathered.get();
    if constexpr (!std::is_same_v<decltype(values), std::vector<std::monostate>>) return values;
  }

  // Waits for every reply, in replica order: a value or an error each.
  template <auto M, class... Args>
  auto outcomes(const Args&... args) const {
    auto futures = start<M>(/*awaited=*/true, args...);
    using T = typename decltype(futures)::value_type::value_type;
    std::vector<Outcome<T>> outcomes;
    outcomes.reserve(futures.size());
    for (auto& future : futures) {
      try {
        if constexpr (std::is_void_v<T>) {
          future.get();
          outcomes.emplace_back(std::monostate{});
        } else {
          outcomes.emplace_back(future.get());
        }
      } catch (const Error& error) {
        outcomes.emplace_back(error);
      }
    }
    return outcomes;
  }

  // Returns the first success; the rest is cancelled. When all fail, the last failure is thrown.
  template <auto M, class... Args>
  auto any(const Args&... args) const {
    auto first = when_any(async<M>(args...));
    auto value = first.get().second;
    if constexpr (!std::is_same_v<decltype(value), std::monostate>) return value;
  }

  // Returns the replies as they come.
  template <auto M, class... Args>
  [[nodiscard]] auto each(const Args&... args) const {
    auto futures = async<M>(args...);
    return Replies<typename decltype(futures)::value_type::value_type>(std::move(futures));
  }

  // Returns the replica that owns a key, at the position partition_of(key, size()): mix64(key) mod size, or
  // mix64(fnv1a(key)) mod size for text. It is stable for ever, as long as the members are the same. Throws
  // `disconnected` when no member is there.
  const Client<S>& by_key(std::uint64_t key) const {
    if (all_.empty()) throw Error(ErrorKind::disconnected, "no member of the group is there");
    return all_[partition_of(key, all_.size())];
  }
  const Client<S>& by_key(std::string_view key) const { return by_key(fnv1a(key)); }

 private:
  using Group = std::shared_ptr<const std::vector<Client<S>>>;  // shared by its snapshots

  Clients(Group group, rpc::Membership* membership) : group_(std::move(group)), membership_(membership) {
    const rpc::Membership::Snapshot now = membership->now();
    epoch_ = now.epoch;
    for (const std::size_t replica : now.replicas) {
      all_.push_back((*group_)[replica]);
      replicas_.push_back(replica);
    }
  }

  template <auto M, class... Args>
  auto start(bool awaited, const Args&... args) const {
    std::vector<decltype(all_[0].template async<M>(args...))> futures;
    futures.reserve(all_.size());
    for (const Client<S>& one : all_) futures.push_back((awaited ? one.awaited() : one).template async<M>(args...));
    return futures;
  }

  std::vector<Client<S>> all_;
  std::vector<std::size_t> replicas_{};  // numbers in the group; empty: the positions are the numbers
  std::uint64_t epoch_ = 0;
  Group group_{};  // all members, whether there or not; null: this is no group
  rpc::Membership* membership_ = nullptr;
};

}  // namespace lp

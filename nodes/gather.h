#pragma once
// Collects one part from each member in a round, and returns all parts when every member has given its own. One Gather
// node gathers; with empty parts it is a barrier. One Gather for each member, to which everybody gives a part, is an
// all-to-all.
//
//   auto sums = program.add<lp::Gather<double>>({.name = "sums"}, workers);
//
//   const std::vector<double> all = sums.call<&lp::Gather<double>::gather>(index, round, mine);  // in a worker: waits
//
//   // all-to-all
//   for (int to = 0; to < n; ++to) inboxes[to].call<&lp::Gather<Part>::give>(index, round, part_for(to));
//   const std::vector<Part> for_me = inboxes[index].call<&lp::Gather<Part>::collect>(round);
//
// A restarted member gives its part again and gets the same answer: the last two rounds are kept. The others wait until
// the call's deadline for a member that never comes back (nodes/collective/collective.h detects deaths). The numbers of
// rounds grow. Nodes: their handlers run in their turn.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lp/base/error.h"
#include "lp/checkpoint/checkpoint.h"
#include "lp/program/context.h"
#include "lp/rpc/core/future.h"
#include "lp/rpc/core/method.h"

namespace lp {

// A restarted Gather has no rounds. A program in which that may happen uses SavedGather.
template <Sendable T>
class Gather {
 public:
  static constexpr std::size_t kRounds = 4;        // complete or not
  static constexpr Interval kLongestWait = 600_s;  // Client::within changes it

  // Error::failed for fewer than one member.
  explicit Gather(int members) : members_(static_cast<std::size_t>(members)) {
    if (members < 1) throw Error(ErrorKind::failed, "a gather of " + std::to_string(members) + " members: give one");
  }

  virtual ~Gather() = default;

  // Stores this member's part of the round. It replaces an earlier part while the round is incomplete. Error::failed
  // for an unknown member, for a round that is over and forgotten, and for a round too far ahead of the others.
  void give(std::uint32_t member, std::uint64_t round, T part) {
    if (member >= members_) {
      throw Error(ErrorKind::failed, "member " + std::to_string(member) + " of " + std::to_string(members_) +
                                         " gives a part: members count from 0");
    }
    Round& found = find(round);
    if (found.complete()) return;
    std::optional<T>& place = found.parts[member];
    if (!place) --found.missing;
    place = std::move(part);
    if (!found.complete()) return;
    for (Promise<std::vector<T>>& one : found.waiting) one.set_value(found.all());
    found.waiting.clear();
    forget(round);
    completed(round);
  }
  // The parts of all members, in the order of the members. Ready when the round is complete.
  Future<std::vector<T>> collect(std::uint64_t round) {
    Round& found = find(round);
    if (found.complete()) return ready(found.all());
    found.waiting.emplace_back();
    return found.waiting.back().future();
  }
  // Calls give(), then collect().
  Future<std::vector<T>> gather(std::uint32_t member, std::uint64_t round, T part) {
    give(member, round, std::move(part));
    return collect(round);
  }

  using Remote = Methods<idempotent<&Gather::give>, deadline<idempotent<&Gather::collect>, kLongestWait>,
                         deadline<idempotent<&Gather::gather>, kLongestWait>>;

 protected:
  // Called when the round is complete.
  virtual void completed(std::uint64_t) {}

  void save_rounds(Checkpoint& out) const {
    std::map<std::uint64_t, std::vector<std::optional<T>>> parts;
    for (const auto& [number, round] : rounds_) parts[number] = round.parts;
    out.put("rounds", parts);
    out.put("over", over_);
  }
  void load_rounds(const Checkpoint& in) {
    rounds_.clear();
    for (auto& [number, parts] : in.get<std::map<std::uint64_t, std::vector<std::optional<T>>>>("rounds")) {
      const auto missing = static_cast<std::size_t>(std::count(parts.begin(), parts.end(), std::nullopt));
      rounds_[number] = {.parts = std::move(parts), .missing = missing, .waiting = {}};
    }
    over_ = in.get<std::uint64_t>("over");
  }

 private:
  struct Round {
    std::vector<std::optional<T>> parts{};  // by member
    std::size_t missing = 0;
    std::vector<Promise<std::vector<T>>> waiting{};

    bool complete() const { return missing == 0; }
    std::vector<T> all() const {
      std::vector<T> out;
      for (const std::optional<T>& one : parts) out.push_back(*one);
      return out;
    }
  };

  Round& find(std::uint64_t number) {
    if (const auto found = rounds_.find(number); found != rounds_.end()) return found->second;
    if (number < over_) {
      throw Error(ErrorKind::failed, "round " + std::to_string(number) +
                                         " is over, and its parts are dropped: only rounds from " +
                                         std::to_string(over_) + " on are kept");
    }
    if (rounds_.size() >= kRounds) {
      throw Error(ErrorKind::failed, "round " + std::to_string(number) + " begins while round " +
                                         std::to_string(rounds_.begin()->first) +
                                         " is not complete: a member is too far ahead of the others");
    }
    return rounds_[number] = {.parts = std::vector<std::optional<T>>(members_), .missing = members_, .waiting = {}};
  }
  // Only the round before a complete one may still be asked for.
  void forget(std::uint64_t complete) {
    const auto at = rounds_.find(complete);
    if (at == rounds_.begin()) return;
    const auto before = std::prev(at);
    over_ = std::max(over_, before->first);
    rounds_.erase(rounds_.begin(), before);
  }

  const std::size_t members_;
  std::map<std::uint64_t, Round> rounds_{};
  std::uint64_t over_ = 0;  // rounds below are forgotten
};

// A Gather that takes part in the program's cuts. When a round that is a multiple of `every` is complete, a cut with
// that number is taken, in which the other nodes that save take part.
template <Sendable T>
class SavedGather final : public Gather<T> {
 public:
  // Error::failed when `every` is 0.
  SavedGather(Context& context, int members, std::uint64_t every)
      : Gather<T>(members), context_(context), every_(every) {
    if (every == 0)
      throw Error(ErrorKind::failed, "a gather would save a checkpoint every 0 rounds: give a number above 0");
  }
  void save(Checkpoint& out) const { this->save_rounds(out); }
  void load(const Checkpoint& in) { this->load_rounds(in); }

  using Remote = typename Gather<T>::Remote;

 private:
  void completed(std::uint64_t round) override {
    if (round % every_ == 0) context_.checkpoint(round);
  }
  Context& context_;
  const std::uint64_t every_;
};

// call<&Barrier::gather>(index, round, std::monostate()) waits until all members have called it.
using Barrier = Gather<std::monostate>;

}  // namespace lp

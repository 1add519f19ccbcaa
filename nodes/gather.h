#pragma once
// What all members give in a round, for whoever wants it when all have given. One node of it gathers, and is a barrier
// where nothing is given; one for each member, and everybody gives to every one, is an all-to-all.
//
//   auto sums = program.add<lp::Gather<double>>({.name = "sums"}, workers);
//   const std::vector<double> all = sums.call<&lp::Gather<double>::gather>(index, round, mine);  // in a worker: waits
//
//   for (int to = 0; to < n; ++to) inboxes[to].call<&lp::Gather<Part>::give>(index, round, part_for(to));  //
//   all-to-all const std::vector<Part> for_me = inboxes[index].call<&lp::Gather<Part>::collect>(round);
//
// A member that is restarted gives its part again, and gets the same answer: the last two rounds are kept. A member
// that never comes back is waited for until the call's deadline (nodes/collective/collective.h hears of deaths). Rounds
// are numbers that grow. Nodes: their handlers run in their turn.

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

// One that is restarted knows no rounds: for programs in which that may happen there is SavedGather.
template <Sendable T>
class Gather {
 public:
  static constexpr std::size_t kRounds = 4;        // complete or not
  static constexpr int kLongestWait = 600 * 1000;  // milliseconds; Client::within changes it

  // Error::failed for fewer than one member.
  explicit Gather(int members) : members_(static_cast<std::size_t>(members)) {
    if (members < 1) throw Error(ErrorKind::failed, "a gather of " + std::to_string(members) + " members: give one");
  }

  virtual ~Gather() = default;

  // This member's part of the round, instead of one that it gave before while the round was not complete. Error::failed
  // for a member that there is not, and for a round that is over and forgotten, or too far ahead of the others.
  void give(std::uint32_t member, std::uint64_t round, T part) {
    if (member >= members_) {
      throw Error(ErrorKind::failed, "member " + std::to_string(member) + " of " + std::to_string(members_) +
                                         " gives a part: they count from 0");
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
  // The parts of all members, in their order, as soon as all are there.
  Future<std::vector<T>> collect(std::uint64_t round) {
    Round& found = find(round);
    if (found.complete()) return ready(found.all());
    found.waiting.emplace_back();
    return found.waiting.back().future();
  }
  // Both.
  Future<std::vector<T>> gather(std::uint32_t member, std::uint64_t round, T part) {
    give(member, round, std::move(part));
    return collect(round);
  }

  using Remote = Methods<idempotent<&Gather::give>, deadline<idempotent<&Gather::collect>, kLongestWait>,
                         deadline<idempotent<&Gather::gather>, kLongestWait>>;

 protected:
  // All parts of this round are there.
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
      throw Error(ErrorKind::failed, "round " + std::to_string(number) + " is over, and forgotten: rounds from " +
                                         std::to_string(over_) + " on are kept");
    }
    if (rounds_.size() >= kRounds) {
      throw Error(ErrorKind::failed, "round " + std::to_string(number) + " begins while round " +
                                         std::to_string(rounds_.begin()->first) +
                                         " is kept, and so are the others since: members are too far apart");
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

// One that is in the program's cuts: when a round that is a multiple of `every` is complete, a cut of that number is
// taken, and the other nodes that save cut there, too.
template <Sendable T>
class SavedGather final : public Gather<T> {
 public:
  // Error::failed when `every` is 0.
  SavedGather(Context& context, int members, std::uint64_t every)
      : Gather<T>(members), context_(context), every_(every) {
    if (every == 0) throw Error(ErrorKind::failed, "cuts every 0 rounds: give a number above 0");
  }
  void save(Checkpoint& out) const { this->save_rounds(out); }
  void load(const Checkpoint& in) { this->load_rounds(in); }

  using Remote = typename Gather<T>::Remote;

 private:
  void completed(std::uint64_t round) override {
    if (round % every_ == 0) context_.cut(round);
  }
  Context& context_;
  const std::uint64_t every_;
};

// Waits in call<&Barrier::gather>(index, round, std::monostate()) until all have come.
using Barrier = Gather<std::monostate>;

}  // namespace lp

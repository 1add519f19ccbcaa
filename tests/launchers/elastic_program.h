#pragma once
// A program with an elastic group, and a node that watches its membership. For the tests that launch it.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lp/checkpoint/checkpoint.h"
#include "lp/lp.h"

namespace lp::test {

struct ElasticConfig {
  Replicas members{2, 4};
};

class Member {
 public:
  explicit Member(int index) : index_(index) {}
  void run() {
    leave_.future().get();
    throw std::runtime_error("it leaves");
  }
  int index() const { return index_; }
  void leave() { leave_.set_value(); }
  using Remote = Methods<&Member::index, &Member::leave>;

 private:
  const int index_;
  Promise<void> leave_;
};

struct Seen {
  std::uint64_t epoch = 0;
  std::vector<int> members{};  // the numbers that the members return
};

class Watcher {
 public:
  Watcher(Clients<Member> members, std::vector<Client<Member>> each)
      : members_(std::move(members)), each_(std::move(each)) {}

  Seen now() {
    members_ = members_.latest();
    return {members_.epoch(), members_.all<&Member::index>()};
  }
  // Ready when another epoch than this has come.
  Future<Seen> after(std::uint64_t epoch) {
    members_ = members_.latest();
    while (members_.epoch() == epoch) {
      Future<void> change = members_.change();
      co_await change;
      members_ = members_.latest();
    }
    co_return now();
  }
  // The error of a call to this member, present or not; empty: it answers.
  std::string call(int member) const {
    try {
      each_[static_cast<std::size_t>(member)].call<&Member::index>();
      return {};
    } catch (const Error& error) {
      return std::string(to_string(error.kind())) + ": " + error.what();
    }
  }
  using Remote = Methods<&Watcher::now, &Watcher::after, &Watcher::call>;

 private:
  Clients<Member> members_;
  const std::vector<Client<Member>> each_;
};

// watcher ──▶ members, which are given up when they fail
inline Program make_elastic(const ElasticConfig& config) {
  Program program("elastic");
  const auto members =
      program.group<Member>({.name = "member", .replicas = config.members, .on_failure = restart(0)}, index);
  std::vector<Handle<Member>> each;
  for (int i = 0; i < members.size(); ++i) each.push_back(members[i]);
  program.add<Watcher>({.name = "watcher"}, members, each);
  return program;
}

// A member that saves its values.
class Keeper {
 public:
  explicit Keeper(Context& context) : context_(context) {}
  void run() {
    leave_.future().get();
    throw std::runtime_error("it leaves");
  }
  void keep(int value) { value_ = value; }
  int value() const { return value_; }
  void cut(std::uint64_t step) { context_.checkpoint(step); }
  void leave() { leave_.set_value(); }
  void save(Checkpoint& out) const { out.put("value", value_); }
  void load(const Checkpoint& in) { value_ = in.get<int>("value"); }
  using Remote = Methods<&Keeper::keep, &Keeper::value, &Keeper::cut, &Keeper::leave>;

 private:
  Context& context_;
  int value_ = 0;
  Promise<void> leave_;
};

// Keepers, which are given up when they fail.
inline Program make_keeping(const ElasticConfig& config) {
  Program program("keeping");
  program.group<Keeper>({.name = "keeper", .replicas = config.members, .on_failure = restart(0)}, context);
  return program;
}

}  // namespace lp::test

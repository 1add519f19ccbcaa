#pragma once
// The same scenarios on every path between two nodes, each recorded event for event: a driver plays them with a
// subject, which records its executions.

#include <atomic>
#include <string>
#include <vector>

#include "lp/lp.h"

namespace lp::test {

struct TranscriptConfig {
  int members = 3;
  std::string log{};  // a file for the driver's records when it was stopped
};

using Lines = std::vector<std::string>;

class Driver;

// The node with which the driver plays.
class Subject {
 public:
  Subject(Context& context, Client<Driver> driver) : context_(context), driver_(driver) {}
  void run(Context& context);  // until die() is called: then it fails

  int note(int value);
  int again(int value) { return note(value); }
  int once(int value) { return note(value); }
  Lines notes() const { return notes_; }
  void die() { die_.set_value(); }
  std::uint32_t incarnation() const { return context_.incarnation(); }
  Future<int> never();
  Future<int> from_second();  // has a value from its second incarnation on
  void fail() const { throw std::invalid_argument("no such key"); }
  void fail_as(ErrorKind kind) const { throw Error(kind, "as it was asked"); }
  int hold();  // has the turn until let_go()
  bool holds() const { return holding_; }
  void let_go() { go_.set(); }
  int few(int value);  // one at a time, and one may wait, until let_one_go()
  void let_one_go() { go_few_.set(); }
  int entered() const { return entered_; }
  Stream<int> count(int n);
  Stream<int> breaks(int n);
  int produced() const { return produced_; }
  std::vector<int> squares(std::vector<int> items);
  int batches() const { return batches_; }
  Future<int> arrive(int of);
  std::string around() const;
  Array<float> scaled(Array<float> values, float by) const;

  using Remote =
      Methods<&Subject::note, idempotent<&Subject::again>, lp::once<&Subject::once>, &Subject::notes,
              concurrent<&Subject::die, 4>, idempotent<&Subject::incarnation>, &Subject::never,
              idempotent<&Subject::from_second>, &Subject::fail, &Subject::fail_as, &Subject::hold,
              concurrent<&Subject::holds, 4>, concurrent<&Subject::let_go, 4>, &Subject::count, &Subject::breaks,
              concurrent<&Subject::produced, 4>, batched<&Subject::squares, 4, 20_s>, &Subject::batches,
              &Subject::arrive, &Subject::around, &Subject::scaled, concurrent<&Subject::few, 1, 1>,
              concurrent<&Subject::let_one_go, 4>, concurrent<&Subject::entered, 4>>;

 private:
  Context& context_;
  Client<Driver> driver_;
  Lines notes_;
  Promise<void> die_;
  Event go_;
  Event go_few_;
  std::atomic<bool> holding_ = false;
  std::atomic<int> entered_ = 0;
  std::atomic<int> produced_ = 0;
  int batches_ = 0;
  std::vector<Promise<int>> waiting_;
};

// One node of a group.
class Member {
 public:
  explicit Member(int index) : index_(index) {}
  int number(int by) const { return index_ * by; }
  int all_but_one(int by) const;
  int none(int by) const;
  using Remote = Methods<&Member::number, &Member::all_but_one, &Member::none>;

 private:
  const int index_;
};

class Driver {
 public:
  Driver(Client<Subject> subject, Clients<Member> members, const TranscriptConfig& config)
      : subject_(subject), members_(std::move(members)), log_(config.log) {}
  Lines play(std::string scenario);
  std::string back() const { return "back"; }
  void wait_for_ever() const;
  using Remote = Methods<&Driver::play, &Driver::back, concurrent<&Driver::wait_for_ever, 1>>;

 private:
  void order();
  void values();
  void deadlines();
  void cancellation();
  void errors();
  void back_pressure();
  void streams();
  void duplicates();
  void batches();
  void groups();
  void barriers();
  void cycles();
  void restart();

  void say(std::string line) { lines_.push_back(std::move(line)); }
  // Records how a call ended.
  template <class F>
  void say_end(const std::string& what, F call);

  Client<Subject> subject_;
  Clients<Member> members_;
  const std::string log_;
  Lines lines_;
};

// driver ──▶ subject ──▶ driver; driver ──▶ members
Program make_transcript(const TranscriptConfig& config);

}  // namespace lp::test

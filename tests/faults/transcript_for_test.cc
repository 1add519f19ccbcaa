#include "tests/faults/transcript_for_test.h"

#include <fstream>
#include <map>
#include <sstream>

#include "lp/base/enums.h"

namespace lp::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto kPatience = milliseconds(250);  // enough for a call to arrive, also when others need the processors

template <class T>
std::string text_of(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}
template <class T>
std::string text_of(const std::vector<T>& values) {
  std::ostringstream out;
  for (const T& value : values) out << value << " ";
  return out.str();
}

// Everything that a caller can see of an error, except times.
std::string text_of(const Error& error) {
  std::string text = std::string(to_string(error.kind())) + (error.may_have_run() ? ", may have run" : "") + ", at " +
                     error.node() + "." + error.method() + " by " + text_of(error.origin().path) + error.origin().type;
  if (error.kind() != ErrorKind::deadline) text += ": " + error.text();
  return text;
}

}  // namespace

void Subject::run(Context&) {
  auto told = die_.future();
  told.get();
  throw std::runtime_error("it was told to");
}

int Subject::note(int value) {
  notes_.push_back(std::to_string(value));
  return value;
}

Future<int> Subject::never() {
  notes_.push_back("never");
  waiting_.emplace_back();
  return waiting_.back().future();
}

Future<int> Subject::from_second() {
  if (context_.incarnation() == 1) return never();
  return ready(static_cast<int>(context_.incarnation()));
}

int Subject::hold() {
  holding_ = true;
  const bool in_time = go_.wait(after(seconds(20)));
  holding_ = false;
  return in_time ? 1 : 0;
}

int Subject::few(int value) {
  ++entered_;
  return go_few_.wait(after(seconds(20))) ? value : 0;
}

Stream<int> Subject::count(int n) {
  for (int i = 0; i < n; ++i) {
    produced_ = i + 1;
    co_yield i;
  }
}

Stream<int> Subject::breaks(int n) {
  for (int i = 0; i < n; ++i) co_yield i;
  throw std::out_of_range("no more rows");
}

std::vector<int> Subject::squares(std::vector<int> items) {
  ++batches_;
  for (int& item : items) item *= item;
  return items;
}

Future<int> Subject::arrive(int of) {
  waiting_.emplace_back();
  Future<int> future = waiting_.back().future();
  if (static_cast<int>(waiting_.size()) == of) {
    for (Promise<int>& one : waiting_) one.set_value(of);
    waiting_.clear();
  }
  return future;
}

std::string Subject::around() const { return driver_.call<&Driver::back>(); }

Array<float> Subject::scaled(Array<float> values, float by) const {
  for (float& value : values.edit()) value *= by;
  return values;
}

int Member::all_but_one(int by) const {
  if (index_ == 1) throw std::runtime_error("not this one");
  return number(by);
}

int Member::none(int) const { throw std::runtime_error("none"); }

void Driver::wait_for_ever() const {
  try {
    subject_.call<&Subject::never>();
  } catch (const Error& error) {
    std::ofstream(log_) << text_of(error);
    throw;
  }
}

template <class F>
void Driver::say_end(const std::string& what, F call) {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<F>>) {
      call();
      say(what + ": done");
    } else {
      say(what + ": " + text_of(call()));
    }
  } catch (const Error& error) {
    say(what + ": " + text_of(error));
  }
}

Lines Driver::play(std::string scenario) {
  static const std::map<std::string, void (Driver::*)()> all{
      {"order", &Driver::order},         {"values", &Driver::values},
      {"deadlines", &Driver::deadlines}, {"cancellation", &Driver::cancellation},
      {"errors", &Driver::errors},       {"back-pressure", &Driver::back_pressure},
      {"streams", &Driver::streams},     {"duplicates", &Driver::duplicates},
      {"batches", &Driver::batches},     {"groups", &Driver::groups},
      {"barriers", &Driver::barriers},   {"cycles", &Driver::cycles},
      {"restart", &Driver::restart},
  };
  (this->*all.at(scenario))();
  return std::exchange(lines_, {});
}

void Driver::order() {
  std::vector<Future<int>> futures;
  for (int i = 0; i < 50; ++i) {
    if (i % 3 == 0) {
      subject_.send<&Subject::note>(i);
    } else {
      futures.push_back(subject_.async<&Subject::note>(i));
    }
  }
  say_end("the last", [&] { return subject_.call<&Subject::note>(50); });
  for (auto& future : futures) say_end("one", [&] { return future.get(); });
  say_end("executed", [&] { return subject_.call<&Subject::notes>(); });
}

void Driver::values() {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, std::size_t{1'000'000}}) {
    Array<float> values(size);
    if (size > 0) values.edit()[size - 1] = 2;
    say_end("scaled", [&] {
      const Array<float> scaled = subject_.call<&Subject::scaled>(values, 3);
      return std::to_string(scaled.size()) + " " + (size > 0 ? std::to_string(scaled[size - 1]) : "");
    });
    if (size > 0) say("kept: " + text_of(values[size - 1]));
  }
}

void Driver::deadlines() {
  say_end("nobody answers", [&] { return subject_.within(kPatience).call<&Subject::never>(); });
  auto future = subject_.within(kPatience).async<&Subject::never>();
  say(std::string("in a millisecond: ") + (future.get_for(milliseconds(1)) ? "there" : "not there"));
  say_end("waited for", [&] { return future.get(); });
  auto held = subject_.async<&Subject::hold>();
  while (!subject_.call<&Subject::holds>()) {
  }
  say_end("its turn does not come", [&] { return subject_.within(kPatience).call<&Subject::note>(7); });
  subject_.call<&Subject::let_go>();
  say_end("held", [&] { return held.get(); });
  say_end("executed", [&] { return subject_.call<&Subject::notes>(); });
}

void Driver::cancellation() {
  auto held = subject_.async<&Subject::hold>();
  while (!subject_.call<&Subject::holds>()) {
  }
  auto first = subject_.async<&Subject::note>(1);
  auto second = subject_.async<&Subject::note>(2);
  first.cancel();
  say_end("cancelled", [&] { return first.get(); });
  subject_.call<&Subject::let_go>();
  say_end("held", [&] { return held.get(); });
  say_end("not cancelled", [&] { return second.get(); });
  say_end("executed", [&] { return subject_.call<&Subject::notes>(); });
}

void Driver::errors() {
  say_end("an exception", [&] { subject_.call<&Subject::fail>(); });
  auto future = subject_.async<&Subject::fail>();
  say_end("later", [&] { future.get(); });
  for (const ErrorKind kind : {ErrorKind::failed, ErrorKind::overloaded, ErrorKind::unimplemented}) {
    say_end("an error", [&] { subject_.call<&Subject::fail_as>(kind); });
  }
  subject_.send<&Subject::fail>();
  say_end("after one that nobody waits for", [&] { return subject_.call<&Subject::note>(1); });
}

void Driver::back_pressure() {
  auto first = subject_.async<&Subject::few>(1);
  while (subject_.call<&Subject::entered>() < 1) {
  }
  auto second = subject_.async<&Subject::few>(2);
  say_end("a third", [&] { return subject_.call<&Subject::few>(3); });
  subject_.call<&Subject::let_one_go>();
  say_end("first", [&] { return first.get(); });
  subject_.call<&Subject::let_one_go>();
  say_end("second", [&] { return second.get(); });

  auto stream = subject_.stream<&Subject::count>(1'000'000);
  for (int i = 0; i < 100; ++i) stream.next();
  const int produced = subject_.call<&Subject::produced>();
  say(std::string("the handler is ahead of its reader by no more than the window: ") +
      (produced >= 100 && produced <= 100 + static_cast<int>(kStreamWindow) + 1 ? "yes" : text_of(produced)));
}

void Driver::streams() {
  int sum = 0;
  for (const int item : subject_.stream<&Subject::count>(100)) sum += item;
  say("sum: " + text_of(sum));
  say_end("breaks", [&] {
    for (const int item : subject_.stream<&Subject::breaks>(3)) say("item: " + text_of(item));
  });
  say_end("left early", [&] { return subject_.stream<&Subject::count>(1'000'000'000).next().value_or(-1); });
  for (const int item : subject_.stream<&Subject::count>(0)) say("no item: " + text_of(item));
  say_end("and goes on", [&] { return subject_.call<&Subject::note>(1); });
}

void Driver::duplicates() {
  for (const std::uint64_t number : {1u, 1u, 2u, 2u, 1u}) {
    say_end("number " + text_of(number),
            [&] { return subject_.numbered(number).call<&Subject::once>(static_cast<int>(number) * 10); });
  }
  auto first = subject_.numbered(9).async<&Subject::once>(90);
  auto second = subject_.numbered(9).async<&Subject::once>(91);
  say_end("first", [&] { return first.get(); });
  say_end("second", [&] { return second.get(); });
  say_end("executed", [&] { return subject_.call<&Subject::notes>(); });
}

void Driver::batches() {
  std::vector<Future<int>> futures;
  for (int i = 0; i < 12; ++i) futures.push_back(subject_.async<&Subject::squares>(i));
  for (auto& future : futures) say_end("square", [&] { return future.get(); });
  say_end("batches", [&] { return subject_.call<&Subject::batches>(); });
}

void Driver::groups() {
  say_end("all", [&] { return members_.all<&Member::number>(5); });
  say_end("all but one", [&] { return members_.all<&Member::all_but_one>(5); });
  for (const auto& one : members_.outcomes<&Member::all_but_one>(5)) {
    say("outcome: " + (one.has_value() ? text_of(one.value()) : text_of(one.error())));
  }
  say_end("any", [&] { return members_.any<&Member::number>(0); });
  say_end("any of none", [&] {
    try {
      members_.any<&Member::none>(0);
    } catch (const Error& error) {
      throw Error(error.kind(), error.text());  // it is not defined which of them is last
    }
  });
  std::map<std::size_t, int> each;
  for (auto& [replica, outcome] : members_.each<&Member::number>(5)) each[replica] = outcome.value();
  for (const auto& [replica, value] : each) say("each: " + text_of(replica) + " " + text_of(value));
  say_end("by key", [&] { return members_.by_key("a key").call<&Member::number>(1); });
}

void Driver::barriers() {
  for (int round = 0; round < 3; ++round) {
    auto first = subject_.async<&Subject::arrive>(3);
    auto second = subject_.async<&Subject::arrive>(3);
    say_end("alone for a moment", [&] { return subject_.call<&Subject::note>(round); });
    say(std::string("first: ") + (first.ready() ? "there" : "not there"));
    say_end("third", [&] { return subject_.call<&Subject::arrive>(3); });
    say_end("first", [&] { return first.get(); });
    say_end("second", [&] { return second.get(); });
  }
}

void Driver::cycles() {
  say_end("around", [&] { return subject_.call<&Subject::around>(); });
  auto later = subject_.async<&Subject::around>();
  say_end("later", [&] { return later.get(); });
}

void Driver::restart() {
  say_end("number 7", [&] { return subject_.numbered(7).call<&Subject::once>(1); });
  auto lost = subject_.async<&Subject::never>();
  auto again = subject_.async<&Subject::from_second>();
  say_end("before", [&] { return subject_.call<&Subject::notes>(); });
  subject_.send<&Subject::die>();
  say_end("lost", [&] { return lost.get(); });
  say_end("again", [&] { return again.get(); });
  say_end("incarnation", [&] { return subject_.call<&Subject::incarnation>(); });
  say_end("number 7", [&] { return subject_.numbered(7).call<&Subject::once>(1); });
  say_end("number 7", [&] { return subject_.numbered(7).call<&Subject::once>(1); });
  say_end("executed", [&] { return subject_.call<&Subject::notes>(); });
  say_end("afterwards", [&] { return subject_.call<&Subject::again>(3); });
}

Program make_transcript(const TranscriptConfig& config) {
  Program program("transcript");
  const auto driver = program.declare<Driver>({.name = "driver"});
  const auto subject =
      program.add<Subject>({.name = "subject", .on_failure = lp::restart(10, Duration::zero())}, context, driver);
  const auto members = program.group<Member>({.name = "member", .replicas = config.members}, index);
  program.define(driver, subject, members, config);
  return program;
}

}  // namespace lp::test

#pragma once
// A trace file, read back: its form, and the rules that every trace keeps. The form is that of "Trace Event Format" of
// the Chromium project, as far as lp uses it. Owned by the test; one thread.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/json_value.h"

namespace lp::test {

struct TraceEvent {
  std::string phase{};
  std::string name{};
  std::string category{};
  std::string id{};
  std::int64_t process = 0;
  std::int64_t thread = 0;
  std::int64_t begin = 0;  // nanoseconds
  std::int64_t duration = 0;
  std::map<std::string, std::string> arguments{};

  std::int64_t end() const { return begin + duration; }
  bool contains(const TraceEvent& other) const { return begin <= other.begin && other.end() <= end(); }
  std::string span() const {
    const auto at = arguments.find("span");
    return at == arguments.end() ? "" : at->second;
  }
};

class TraceFile {
 public:
  explicit TraceFile(const std::string& json) {
    const JsonValue document = JsonValue::parse(json);
    const JsonValue* const events = document.find("traceEvents");
    if (events == nullptr || events->kind() != JsonValue::Kind::array) {
      ADD_FAILURE() << "no traceEvents";
      return;
    }
    for (const JsonValue& event : events->items()) events_.push_back(read(event));
    for (const TraceEvent& event : events_) {
      if (event.phase == "X") threads_[{event.process, event.thread}].push_back(&event);
      if (event.category == "call" && event.phase == "X") calls_.emplace(event.span(), &event);
    }
  }

  const std::vector<TraceEvent>& events() const { return events_; }
  std::vector<const TraceEvent*> slices(const std::string& category) const {
    std::vector<const TraceEvent*> all;
    for (const TraceEvent& event : events_) {
      if (event.phase == "X" && event.category == category) all.push_back(&event);
    }
    return all;
  }
  // The name of the process of this number.
  std::string process(std::int64_t number) const {
    for (const TraceEvent& event : events_) {
      if (event.phase == "M" && event.name == "process_name" && event.process == number)
        return event.arguments.at("name");
    }
    return "";
  }
  bool has_mark(const std::string& name) const {
    for (const TraceEvent& event : events_) {
      if (event.phase == "i" && event.name == name) return true;
    }
    return false;
  }

  // Checks the rules.
  void check() const {
    for (const auto& [thread, slices] : threads_) check_thread(slices);
    for (const TraceEvent* handler : slices("handler")) {
      const TraceEvent* const call = call_of(*handler);
      if (call == nullptr) continue;
      EXPECT_LE(call->begin, handler->begin) << handler->name;
      if (call->arguments.count("reply") == 0) {
        EXPECT_GE(call->end(), handler->end()) << handler->name;
      }
    }
    for (const TraceEvent* phase : slices("phase")) {
      const TraceEvent* const call = call_of(*phase);
      ASSERT_NE(call, nullptr) << phase->name;
      EXPECT_TRUE(call->contains(*phase)) << phase->name;
    }
    check_arrows();
  }
  // The handlers whose call is not there.
  std::size_t orphans() const {
    std::size_t count = 0;
    for (const TraceEvent* handler : slices("handler")) count += call_of(*handler) == nullptr ? 1U : 0U;
    return count;
  }

 private:
  static std::int64_t nanoseconds(const JsonValue& number) {
    const std::string& text = number.text();
    const std::size_t point = text.find('.');
    EXPECT_EQ(text.size() - point, 4U) << text;  // three digits
    return std::atoll(text.substr(0, point).c_str()) * 1000 + std::atoll(text.substr(point + 1).c_str());
  }

  static TraceEvent read(const JsonValue& value) {
    TraceEvent event;
    const auto text = [&](const char* key, bool needed) -> std::string {
      const JsonValue* const found = value.find(key);
      if (found != nullptr) {
        EXPECT_EQ(found->kind(), JsonValue::Kind::string) << key;
      }
      EXPECT_TRUE(found != nullptr || !needed) << key;
      return found == nullptr ? "" : found->text();
    };
    const auto number = [&](const char* key) -> const JsonValue& {
      static const JsonValue kNone;
      const JsonValue* const found = value.find(key);
      EXPECT_TRUE(found != nullptr && found->kind() == JsonValue::Kind::number) << key;
      return found == nullptr ? kNone : *found;
    };
    event.phase = text("ph", true);
    event.name = text("name", true);
    event.process = std::atoll(number("pid").text().c_str());
    event.thread = std::atoll(number("tid").text().c_str());
    EXPECT_GT(event.process, 0);
    const bool slice = event.phase == "X", arrow = event.phase == "s" || event.phase == "f";
    EXPECT_TRUE(slice || arrow || event.phase == "M" || event.phase == "i" || event.phase == "C") << event.phase;
    if (event.phase != "M") event.begin = nanoseconds(number("ts"));
    if (slice) event.duration = nanoseconds(number("dur"));
    event.category = text("cat", slice || arrow);
    event.id = text("id", arrow);
    if (event.phase == "f") {
      EXPECT_EQ(text("bp", true), "e");
    }
    if (event.phase == "i") {
      EXPECT_NE(std::string("gp").find(text("s", true)), std::string::npos);
    }
    const JsonValue* const arguments = value.find("args");
    if (arguments == nullptr) return event;
    EXPECT_EQ(arguments->kind(), JsonValue::Kind::object);
    for (std::size_t i = 0; i < arguments->items().size(); ++i) {
      event.arguments[arguments->keys()[i]] = arguments->items()[i].text();
    }
    return event;
  }

  // In the order of the file, time does not go back, and slices lie beside one another or in one another.
  static void check_thread(const std::vector<const TraceEvent*>& slices) {
    std::vector<const TraceEvent*> open;
    std::int64_t last = 0;
    for (const TraceEvent* slice : slices) {
      EXPECT_GE(slice->duration, 0) << slice->name;
      EXPECT_GE(slice->begin, last) << slice->name;
      last = slice->category == "phase" ? last : slice->begin;
      while (!open.empty() && open.back()->end() <= slice->begin) open.pop_back();
      if (!open.empty()) {
        EXPECT_TRUE(open.back()->contains(*slice)) << slice->name << " in " << open.back()->name;
      }
      if (slice->category != "phase") open.push_back(slice);
    }
  }

  const TraceEvent* call_of(const TraceEvent& part) const {
    const auto at = calls_.find(part.span());
    return at == calls_.end() ? nullptr : at->second;
  }

  void check_arrows() const {
    std::map<std::string, const TraceEvent*> begun;
    for (const TraceEvent& event : events_) {
      if (event.phase == "s") {
        EXPECT_TRUE(begun.emplace(event.id, &event).second);
      }
      if (event.phase != "f") continue;
      ASSERT_EQ(begun.count(event.id), 1U);
      EXPECT_LE(begun[event.id]->begin, event.begin) << event.name;
      const auto thread = threads_.find({event.process, event.thread});
      ASSERT_NE(thread, threads_.end());
      bool lands = false;
      for (const TraceEvent* slice : thread->second) {
        lands = lands || (slice->category == "handler" && slice->begin <= event.begin && event.begin <= slice->end());
      }
      EXPECT_TRUE(lands) << event.name;
    }
  }

  std::vector<TraceEvent> events_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<const TraceEvent*>> threads_;
  std::map<std::string, const TraceEvent*> calls_;
};

}  // namespace lp::test

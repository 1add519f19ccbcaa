#include "lp/base/json_value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/json.h"

namespace lp {
namespace {

enum class Shade : std::uint8_t { red, green };

struct Inner {
  std::string name{};
  Shade colour = Shade::red;
};
struct Outer {
  bool flag = false;
  std::int64_t low = 0;
  std::uint64_t high = 0;
  double real = 0;
  std::vector<Inner> list{};
  std::map<std::string, double> values{};
  std::optional<int> maybe{};
  int kept = 7;
};

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(from_json<Outer>(text));
  } catch (const Error& error) {
    return error.text();
  }
  return "none";
}

TEST(JsonValue, ReadsWhatTheWriterWrote) {
  const Outer written{.flag = true,
                      .low = std::numeric_limits<std::int64_t>::min(),
                      .high = std::numeric_limits<std::uint64_t>::max(),
                      .real = 0.1,
                      .list = {{"a \"quoted\" \\ line\n\x01 é", Shade::green}, {}},
                      .values = {{"x", 1e300}, {"y", -0.0}},
                      .maybe = 3};
  const auto read = from_json<Outer>(to_json(written));
  EXPECT_EQ(to_json(read), to_json(written));
  EXPECT_EQ(read.high, written.high);
  EXPECT_EQ(read.list[0].name, written.list[0].name);
}

TEST(JsonValue, WhatIsMissingKeepsItsDefaultAndWhatIsUnknownIsPassedOver) {
  const auto read = from_json<Outer>(R"( { "later" : [1, {"x": null}], "real": 2, "maybe": null } )");
  EXPECT_EQ(read.kept, 7);
  EXPECT_EQ(read.real, 2);
  EXPECT_FALSE(read.maybe.has_value());
  EXPECT_TRUE(std::isnan(from_json<Outer>(R"({"real":null})").real));
}

TEST(JsonValue, EscapesAreCharacters) {
  EXPECT_EQ(from_json<std::string>(R"("\u0041\u00e9\u20ac\ud83d\ude00\/\b\f\n\r\t")"), "Aé€😀/\b\f\n\r\t");
}

TEST(JsonValue, SaysWhereAValueDoesNotFit) {
  EXPECT_EQ(refusal(R"({"list":[{},{"colour":"blue"}]})"), "list[1].colour: expected one of red, green, not \"blue\"");
  EXPECT_EQ(refusal(R"({"low":1.5})"), "low: expected an integer of its range, not \"1.5\"");
  EXPECT_EQ(refusal(R"({"high":-1})"), "high: expected an integer of its range, not \"-1\"");
  EXPECT_EQ(refusal(R"({"flag":1})"), "flag: expected true or false, not \"1\"");
  EXPECT_EQ(refusal(R"({"values":{"x":[]}})"), "values.x: expected a number, not array");
  EXPECT_EQ(refusal("[]"), "expected an object, not array");
}

TEST(JsonValue, WhatIsNoJsonIsRefusedWithItsLine) {
  EXPECT_EQ(refusal("{\n\"low\": }"), "this is not JSON: line 2: a value is missing, at \"}\"");
  for (const char* text :
       {"",       " ",   "{",    "[",        "[1,]", "{\"a\"}", "{\"a\":1,}", "{a:1}",       "01",
        "-",      "1.",  "1e",   "nul",      "\"",   "\"\\x\"", "\"\\u12\"",  "\"\\ud800\"", "\"\\ud800\\u0041\"",
        "\"\n\"", "1 2", "\xff", "\"\xc3\"", "'a'",  "NaN",     "+1",         ".5"}) {
    EXPECT_TRUE(refusal(text).starts_with("this is not JSON: line ")) << text << ": " << refusal(text);
  }
}

TEST(JsonValue, DepthIsBounded) {
  EXPECT_NO_THROW(JsonValue::parse(std::string(60, '[') + std::string(60, ']')));
  EXPECT_THROW(JsonValue::parse(std::string(100'000, '[')), Error);
}

}  // namespace
}  // namespace lp

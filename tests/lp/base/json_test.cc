#include "lp/base/json.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace {

enum class Hue { red, green };

struct Point {
  int x = 1;
  float y = 0.1F;
};

struct Result {
  std::string name = "a";
  bool ok = true;
  std::vector<Point> points{{}, {2, 0.5F}};
  std::optional<double> loss{};
  std::map<std::string, int> counts{{"b", 2}};
  Hue colour = Hue::green;
  std::vector<bool> flags{true, false};
};

TEST(Json, AnAggregateIsAnObject) {
  EXPECT_EQ(lp::to_json(Result{}),
            R"({"name":"a","ok":true,"points":[{"x":1,"y":0.1},{"x":2,"y":0.5}],"loss":null,"counts":{"b":2},)"
            R"("colour":"green","flags":[true,false]})");
}

TEST(Json, NumbersReadBackExactly) {
  EXPECT_EQ(lp::to_json(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(lp::to_json(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(lp::to_json(0.1), "0.1");
  EXPECT_EQ(lp::to_json(1e300), "1e+300");
  EXPECT_EQ(lp::to_json(std::int8_t{-3}), "-3");
}

TEST(Json, WhatIsNoNumberIsNull) {
  EXPECT_EQ(lp::to_json(
                std::vector<double>{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}),
            "[null,null]");
}

TEST(Json, StringsAreEscapedAndAlwaysUtf8) {
  EXPECT_EQ(lp::to_json("a\"\\\n\t\x01\x7F"), "\"a\\\"\\\\\\n\\t\\u0001\\u007f\"");
  EXPECT_EQ(lp::to_json(std::string("\0b", 2)), "\"\\u0000b\"");
  EXPECT_EQ(lp::to_json("gr\xC3\xBC\xC3\x9F"), "\"gr\xC3\xBC\xC3\x9F\"");
  EXPECT_EQ(lp::to_json("\xC3\x28\xED\xA0\x80"), "\"\xEF\xBF\xBD(\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

TEST(Json, AWriterPutsTheCommas) {
  lp::JsonWriter json;
  json.begin_object();
  json.member("steps", 3);
  json.key("nodes");
  json.begin_array();
  json.begin_object();
  json.end_object();
  json.write("x");
  json.begin_array();
  json.end_array();
  json.end_array();
  json.key("rest");
  json.json("{}");
  json.end_object();
  EXPECT_EQ(json.text(), R"({"steps":3,"nodes":[{},"x",[]],"rest":{}})");
}

}  // namespace

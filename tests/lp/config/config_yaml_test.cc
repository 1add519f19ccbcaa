#include "lp/config/config_yaml.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "tests/lp/config/config_for_test.h"

namespace lp::test {
namespace {

struct Numbers {
  double d = 0;
  float f = 0;
  std::int64_t i = 0;
  std::uint64_t u = 0;
  std::int8_t small = 0;
  bool b = false;
  std::vector<double> list{};
  std::optional<float> maybe{};
};

struct Texts {
  std::string text{};
  std::vector<std::string> list{};
  std::optional<std::string> maybe{};
};

struct Leaf {
  int x = 1;
  int y = 2;
};
struct Middle {
  Leaf a{};
  int z = 3;
  Leaf b{};
};
struct Tree {
  Middle m{};
  Leaf l{};
  int last = 4;
};

TEST(ConfigYaml, ReadsAsAConfigurationFile) {
  Config config;
  config.files = {"a", "b\"\n"};
  config.model.layers = {};
  EXPECT_EQ(to_yaml(config),
            "workers: 4\n"
            "rate: 0.1\n"
            "shuffle: false\n"
            "name: \"run\"\n"
            "files: [\"a\", \"b\\\"\\n\"]\n"
            "steps: null\n"
            "big: 7\n"
            "optimizer: \"sgd\"\n"
            "model:\n"
            "  hidden_size: 64\n"
            "  layers: []\n");
}

TEST(ConfigYaml, EveryFieldComesBack) {
  Config config;
  config.workers = 77;
  config.steps = 5;
  config.files = {"x"};
  config.optimizer = Optimizer::null;
  config.model.layers = {1};
  const auto back = from_yaml<Config>(to_yaml(config));
  EXPECT_EQ(back.workers, 77);
  EXPECT_EQ(back.steps, 5);
  EXPECT_EQ(back.files, config.files);
  EXPECT_EQ(back.optimizer, Optimizer::null);
  EXPECT_EQ(back.model.layers, config.model.layers);
}

TEST(ConfigYaml, NestedAggregatesKeepTheirPlaces) {
  Tree tree{.m = {.a = {10, 11}, .z = 12, .b = {13, 14}}, .l = {15, 16}, .last = 17};
  const auto back = from_yaml<Tree>(to_yaml(tree));
  EXPECT_EQ(back.m.a.y, 11);
  EXPECT_EQ(back.m.z, 12);
  EXPECT_EQ(back.m.b.x, 13);
  EXPECT_EQ(back.l.y, 16);
  EXPECT_EQ(back.last, 17);
}

TEST(ConfigYaml, NumbersComeBackToTheBit) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    Numbers numbers;
    numbers.d = std::bit_cast<double>(random());
    numbers.f = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    numbers.i = static_cast<std::int64_t>(random());
    numbers.u = random();
    numbers.small = static_cast<std::int8_t>(random());
    numbers.list = {std::bit_cast<double>(random()), -0.0, std::numeric_limits<double>::denorm_min()};
    numbers.maybe = numbers.f;
    const auto back = from_yaml<Numbers>(to_yaml(numbers));
    EXPECT_TRUE(std::isnan(numbers.d)
                    ? std::isnan(back.d)
                    : std::bit_cast<std::uint64_t>(back.d) == std::bit_cast<std::uint64_t>(numbers.d));
    EXPECT_TRUE(std::isnan(numbers.f) ? std::isnan(back.f) : back.f == numbers.f && back.maybe == numbers.maybe);
    EXPECT_EQ(back.i, numbers.i);
    EXPECT_EQ(back.u, numbers.u);
    EXPECT_EQ(back.small, numbers.small);
    ASSERT_EQ(back.list.size(), 3U);
    EXPECT_TRUE(std::signbit(back.list[1]) && back.list[1] == 0);
    EXPECT_EQ(back.list[2], numbers.list[2]);
  }
  const Numbers special{.d = -std::numeric_limits<double>::infinity(),
                        .f = std::numeric_limits<float>::quiet_NaN(),
                        .i = std::numeric_limits<std::int64_t>::min(),
                        .u = std::numeric_limits<std::uint64_t>::max(),
                        .small = -128,
                        .b = true,
                        .list = {},
                        .maybe = std::nullopt};
  const auto back = from_yaml<Numbers>(to_yaml(special));
  EXPECT_EQ(back.d, special.d);
  EXPECT_TRUE(std::isnan(back.f));
  EXPECT_EQ(back.i, special.i);
  EXPECT_EQ(back.u, special.u);
  EXPECT_EQ(back.small, -128);
  EXPECT_TRUE(back.b);
  EXPECT_FALSE(back.maybe.has_value());
}

std::string round_trip(const std::string& text) {
  return from_yaml<Texts>(to_yaml(Texts{.text = text, .list = {}, .maybe = std::nullopt})).text;
}

TEST(ConfigYaml, StringsOfAnyBytesComeBack) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text(1, static_cast<char>(byte));
    EXPECT_EQ(round_trip(text), text) << byte;
    EXPECT_EQ(round_trip("a" + text + " "), "a" + text + " ") << byte;
  }
  for (const char* text :
       {"", "null", "~", "true", "3", " x ", "# no comment", "a: b", "'\"\\", "\xEF\xBB\xBF bom", "\xC2\x85",
        "\xE2\x80\xA8", "\xF4\x8F\xBF\xBF", "line\r\nline\n\n", "%d", "!!binary x", "&a *a"}) {
    EXPECT_EQ(round_trip(text), text);
  }
  std::mt19937 random(2);
  for (int i = 0; i < 2000; ++i) {
    std::string text(random() % 20, ' ');
    for (char& c : text) c = static_cast<char>(random());
    EXPECT_EQ(round_trip(text), text);
  }
  const Texts texts{.text = "", .list = {"", "a,b", "\xFF"}, .maybe = ""};
  const auto back = from_yaml<Texts>(to_yaml(texts));
  EXPECT_EQ(back.list, texts.list);
  EXPECT_EQ(back.maybe, "");
}

struct OddNames {
  int null = 1;
  int y = 2;
  int on = 3;
};

TEST(ConfigYaml, FieldsMayBeCalledWhatIsSpecialInYaml) {
  const auto back = from_yaml<OddNames>(to_yaml(OddNames{.null = 4, .y = 5, .on = 6}));
  EXPECT_EQ(back.null, 4);
  EXPECT_EQ(back.y, 5);
  EXPECT_EQ(back.on, 6);
}

TEST(ConfigYaml, WhatCouldNotBeReadAgainIsRefused) {
  EXPECT_EQ(failure([] { to_yaml(Config{.workers = 0}); }), "workers: expected an integer from 1 to 1024, got \"0\"");
  EXPECT_EQ(failure([] { to_yaml(Config{.optimizer = static_cast<Optimizer>(9)}); }),
            "optimizer: expected one of sgd, adam, null, got \"\"");
  EXPECT_EQ(failure([] { to_yaml(Config{.name = std::string(kLargestYaml, 'x')}); }),
            "the configuration takes more than 1048576 bytes as text");
}

TEST(ConfigYaml, ATextOfAnotherTypeIsRefused) {
  EXPECT_EQ(failure([] { from_yaml<Leaf>("x: 1\nq: 2\n"); }), "resolved configuration:2:1: unknown key \"q\"");
}

}  // namespace
}  // namespace lp::test

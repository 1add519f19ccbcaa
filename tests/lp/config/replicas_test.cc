// A configuration that sets the number of a group's nodes.

#include "lp/base/replicas.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lp/config/config_yaml.h"
#include "tests/lp/config/config_for_test.h"

namespace lp::test {
namespace {

struct Sizes {
  Replicas workers{2, 8};
  Replicas readers = 1;

  static constexpr auto fields = lp::fields(lp::field("workers", "how many", lp::range(1, 64)));
};

Sizes parse_sizes(std::vector<const char*> words) {
  words.insert(words.begin(), "/bin/digits");
  Sizes sizes;
  LaunchFlags flags;
  parse(static_cast<int>(words.size()), words.data(), bind(sizes), bind(flags));
  return sizes;
}
std::string yaml_failure(const std::string& text) {
  return failure([&] { from_yaml<Sizes>(text); });
}

TEST(ReplicasField, AreANumberOrARange) {
  EXPECT_EQ(parse_sizes({}).workers, Replicas(2, 8));
  EXPECT_EQ(parse_sizes({"--workers=4"}).workers, Replicas(4));
  const Sizes sizes = parse_sizes({"--workers=3..64", "--readers", "2..1000"});
  EXPECT_EQ(sizes.workers, Replicas(3, 64));
  EXPECT_EQ(sizes.readers, Replicas(2, 1000));
}

TEST(ReplicasField, AreFrozenAndThawed) {
  const std::string text = to_yaml(Sizes{.workers = {3, 5}, .readers = 7});
  EXPECT_EQ(text, "workers: 3..5\nreaders: 7\n");
  EXPECT_EQ(from_yaml<Sizes>(text).workers, Replicas(3, 5));
  EXPECT_EQ(from_yaml<Sizes>(text).readers, Replicas(7));
}

TEST(ReplicasField, WhatIsNoneIsRefusedWithWhatIs) {
  for (const std::string text : {"8..2", "0..3", "2..", "x", "2..65", "0", ""}) {
    EXPECT_EQ(failure([&] { parse_sizes({("--workers=" + text).c_str()}); }),
              "--workers: expected an integer or a range (such as 2..8) from 1 to 64, got \"" + text + "\"");
  }
  EXPECT_EQ(failure([] { parse_sizes({"--readers=2..1"}); }),
            "--readers: expected an integer or a range (such as 2..8) at least 1, got \"2..1\"");
  EXPECT_EQ(yaml_failure("readers: 1\nworkers: 8..2\n"),
            "resolved configuration:2:10: workers: expected an integer or a range (such as 2..8) from 1 to 64, got "
            "\"8..2\"");
  EXPECT_NE(yaml_failure("workers: [2, 8]\n").find("expected an integer or a range (such as 2..8) from 1 to 64, got "),
            std::string::npos);
}

TEST(ReplicasField, ADefaultOfNoneMustBeGiven) {
  struct Config {
    Replicas workers = 0;
  } config;
  LaunchFlags flags;
  const char* const words[] = {"/bin/digits"};
  EXPECT_EQ(failure([&] { parse(1, words, bind(config), bind(flags)); }),
            "--workers must be given: an integer or a range (such as 2..8) at least 1; its default is 0");
}

}  // namespace
}  // namespace lp::test

#include "lp/config/yaml.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/lp/config/config_for_test.h"

namespace lp::test {
namespace {

// A file in the directory for tests, which is removed afterwards.
class YamlFile : public testing::Test {
 protected:
  ~YamlFile() override { std::filesystem::remove(path_); }

  Parsed parse_file(const std::string& text, std::vector<const char*> words = {}) {
    std::ofstream(path_, std::ios::binary) << text;
    flag_ = "--config=" + path_;
    words.push_back(flag_.c_str());
    return parse_words(words);
  }

  // The text of the error, where the path is FILE.
  std::string parse_file_failure(const std::string& text) {
    std::string what = failure([&] { parse_file(text); });
    for (std::size_t at = what.find(path_); at != std::string::npos; at = what.find(path_))
      what.replace(at, path_.size(), "FILE");
    return what;
  }

  std::string path_ = testing::TempDir() + "lp_yaml_" + testing::UnitTest::GetInstance()->current_test_info()->name();
  std::string flag_;
};

TEST_F(YamlFile, StandsBetweenDefaultsAndFlags) {
  const Parsed parsed = parse_file(
      "workers: 8\n"
      "rate: 0.5   # a comment\n"
      "shuffle: yes\n"
      "name: 123\n"
      "files: [a, 'b, c', \"d\"]\n"
      "steps: 5\n"
      "optimizer: adam\n"
      "model:\n"
      "  hidden-size: 2\n"
      "  layers:\n"
      "    - 7\n"
      "    - 8\n"
      "launch:\n"
      "  launch: processes\n"
      "  dry-run: true\n",
      {"--workers=9", "--dry-run=false"});
  EXPECT_EQ(parsed.config.workers, 9);
  EXPECT_EQ(parsed.config.rate, 0.5);
  EXPECT_TRUE(parsed.config.shuffle);
  EXPECT_EQ(parsed.config.name, "123");
  EXPECT_EQ(parsed.config.files, (std::vector<std::string>{"a", "b, c", "d"}));
  EXPECT_EQ(parsed.config.steps, 5);
  EXPECT_EQ(parsed.config.big, 7U);
  EXPECT_EQ(parsed.config.optimizer, Optimizer::adam);
  EXPECT_EQ(parsed.config.model.hidden_size, 2);
  EXPECT_EQ(parsed.config.model.layers, (std::vector{7, 8}));
  EXPECT_EQ(parsed.flags.launch, "processes");
  EXPECT_FALSE(parsed.flags.dry_run);
}

TEST_F(YamlFile, MayBeEmpty) {
  for (const char* text : {"", "\n", "# only a comment\n", "---\n", "groups:\nlaunch:\n", "\xEF\xBB\xBFworkers: 4\n"}) {
    EXPECT_EQ(parse_file(text).config.workers, 4) << text;
  }
}

TEST_F(YamlFile, AnUnknownKeyNamesItsPlaceAndTheNearest) {
  EXPECT_EQ(parse_file_failure("rate: 1\nwrkers: 3\n"), "FILE:2:1: unknown key \"wrkers\"; did you mean workers?");
  EXPECT_EQ(parse_file_failure("model:\n  hiden_size: 3\n"),
            "FILE:2:3: unknown key \"model.hiden_size\"; did you mean model.hidden_size?");
  EXPECT_EQ(parse_file_failure("grups: {}\n"), "FILE:1:1: unknown key \"grups\"; did you mean groups?");
  EXPECT_EQ(parse_file_failure("model.hidden_size: 3\n"),
            "FILE:1:1: model.hidden_size: in a file, write a nested map instead of a name with a dot");
  EXPECT_EQ(parse_file_failure("hidden_size: 3\n"),
            "FILE:1:1: unknown key \"hidden_size\"; did you mean model.hidden_size?");
  EXPECT_EQ(parse_file_failure("launch:\n  sed: 3\n"), "FILE:2:3: unknown key \"sed\"; did you mean seed?");
  EXPECT_EQ(parse_file_failure("? zzzzzzzzzz\n: 3\n"), "FILE:1:3: unknown key \"zzzzzzzzzz\"");
}

TEST_F(YamlFile, AnErrorAboutAFieldOfItNamesItsPlace) {
  const Parsed parsed = parse_file("workers: 3\nlaunch:\n  seed: 3\nmodel:\n  hidden_size: 3\nrate: 1\n", {"--rate=2"});
  const auto placed = [&](const std::string& text) { return with_place(parsed.line, text); };
  EXPECT_EQ(placed("--workers has no effect"), parsed.line.in_file.front().place + ": workers has no effect");
  EXPECT_TRUE(parsed.line.in_file.front().place.ends_with(":1:1"));
  EXPECT_EQ(placed("--workers=3 is odd"), parsed.line.in_file.front().place + ": workers=3 is odd");
  for (const char* other :
       {"--workers-of-others has no effect", "--rate has no effect", "--seed has no effect", "odd"}) {
    EXPECT_EQ(placed(other), other);
  }
}

TEST_F(YamlFile, AFlagOfLpStandsUnderLaunch) {
  EXPECT_EQ(parse_file_failure("seed: 3\n"),
            "FILE:1:1: \"seed\" is one of lp's own flags: in a file it stands under `launch:`");
  EXPECT_EQ(parse_file_failure("launch: processes\n"),
            "FILE:1:9: launch: expected a map of lp's own flags, got \"processes\"");
  EXPECT_EQ(parse_file_failure("launch:\n  config: x.yaml\n"),
            "FILE:2:3: launch: a file cannot have `config`, which would name another file");
}

TEST_F(YamlFile, AWrongValueSaysWhatIsExpected) {
  EXPECT_EQ(parse_file_failure("\n\nworkers:   many\n"),
            "FILE:3:12: workers: expected an integer from 1 to 1024, got \"many\"");
  EXPECT_EQ(parse_file_failure("workers: 2000\n"),
            "FILE:1:10: workers: expected an integer from 1 to 1024, got \"2000\"");
  EXPECT_EQ(parse_file_failure("workers: 010\n"),
            "FILE:1:10: workers: expected an integer from 1 to 1024, got \"010\"");
  EXPECT_EQ(parse_file_failure("workers: '2'\n"),
            "FILE:1:10: workers: expected an integer from 1 to 1024, got the string \"2\"");
  EXPECT_EQ(parse_file_failure("workers: [2]\n"), "FILE:1:10: workers: expected an integer from 1 to 1024, got a list");
  EXPECT_EQ(parse_file_failure("workers: {a: 2}\n"),
            "FILE:1:10: workers: expected an integer from 1 to 1024, got a map");
  EXPECT_EQ(parse_file_failure("name: ~\n"), "FILE:1:7: name: expected a string, got an empty value");
  EXPECT_EQ(parse_file_failure("files: a\n"), "FILE:1:8: files: expected a list of strings, got \"a\"");
  EXPECT_EQ(parse_file_failure("model:\n  layers:\n  - 1\n  - 0\n"),
            "FILE:4:5: model.layers: expected a list of integers from 1 to 2147483647, got \"0\"");
  EXPECT_EQ(parse_file_failure("model:\n  layers: [1, [2]]\n"),
            "FILE:2:15: model.layers: expected a list of integers from 1 to 2147483647, got a list");
  EXPECT_EQ(parse_file_failure("model: 3\n"), "FILE:1:8: model: expected a map, got \"3\"");
  EXPECT_EQ(parse_file_failure("- a\n"), "FILE:1:1: expected `key: value` lines, got a list");
  EXPECT_EQ(parse_file_failure("just words\n"), "FILE:1:1: expected `key: value` lines, got \"just words\"");
}

TEST_F(YamlFile, AKeyStandsOnce) {
  EXPECT_EQ(parse_file_failure("workers: 2\nworkers: 3\n"), "FILE:2:1: the key \"workers\" is given twice");
  EXPECT_EQ(parse_file_failure("model: {hidden_size: 1, hidden-size: 1}\n"),
            "FILE:1:25: model.hidden_size is given twice");
}

TEST_F(YamlFile, WhatIsNoConfigurationIsRefused) {
  EXPECT_EQ(parse_file_failure("workers: [1\n").substr(0, 19), "FILE:2:1: not YAML:");
  EXPECT_EQ(parse_file_failure("workers: &a 3\n"), "FILE:1:10: anchors are not supported");
  EXPECT_EQ(parse_file_failure("<<: {workers: 3}\n"), "FILE:1:1: merge keys are not supported");
  EXPECT_EQ(parse_file_failure("name: !!str 3\n"), "FILE:1:7: the tag \"tag:yaml.org,2002:str\" is not supported");
  for (const char* text : {"\"\xC3\xA9\xC3\xA9\"", "AQI", "A===", "=AQI", "\"AQID \""}) {
    EXPECT_NE(
        parse_file_failure(std::string("name: !!binary ") + text + "\n").find("FILE:1:7: !!binary: expected base64"),
        std::string::npos)
        << text;
  }
  EXPECT_EQ(parse_file_failure("? [a]\n: 3\n"), "FILE:1:3: a key must be a plain word");
  EXPECT_EQ(parse_file_failure("workers: 3\n---\nworkers: 3\n"), "FILE: holds more than one YAML document");
  EXPECT_EQ(parse_file_failure("name: a\n\xFF"), "FILE:2:1: not a text file: a byte here is no UTF-8");
  EXPECT_EQ(parse_file_failure(std::string("name: a\0b\n", 10)),
            "FILE:1:8: not a text file: a byte here is a control character");
  EXPECT_EQ(parse_file_failure("\x7F"
                               "ELF"),
            "FILE:1:1: not a text file: a byte here is a control character");
}

TEST_F(YamlFile, SizeAndDepthAreBounded) {
  const std::string deep = "more than 16 maps and lists inside one another";
  for (const char* opening : {"[", "{a: ", "- ", "? ", ": ", "a:\n"}) {
    std::string text;
    while (text.size() < 200'000) text += opening;
    EXPECT_NE(parse_file_failure(text), "no error") << opening;
  }
  EXPECT_EQ(parse_file_failure("files: " + std::string(20, '[') + std::string(20, ']')), "FILE:1:23: " + deep);
  EXPECT_EQ(parse_file_failure(std::string(kLargestYaml + 1, '#')),
            "cannot read FILE: it has 1048577 bytes, but only 1048576 are allowed");
  EXPECT_EQ(parse_file("name: " + std::string(1'000'000, 'x') + "\n").config.name.size(), 1'000'000U);
  EXPECT_LT(parse_file_failure("rate: " + std::string(1'000'000, 'x') + "\n").size(), 250U);
  EXPECT_LT(parse_file_failure(std::string(1'000'000, 'x') + ": 1\n").size(), 250U);
}

TEST(ConfigFile, MustBeReadable) {
  EXPECT_EQ(parse_failure({"--config=/nowhere/x.yaml"}), "cannot read /nowhere/x.yaml: No such file or directory");
  EXPECT_EQ(parse_failure({"--config=/"}), "cannot read /: it is not a regular file");
  EXPECT_EQ(parse_failure({"--config=/dev/zero"}), "cannot read /dev/zero: it is not a regular file");
}

}  // namespace
}  // namespace lp::test

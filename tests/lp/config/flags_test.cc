#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/lp/config/config_for_test.h"

namespace lp::test {
namespace {

using Strings = std::vector<std::string>;

TEST(Flags, DefaultsAreTheInitializers) {
  const Parsed parsed = parse_words({});
  EXPECT_EQ(parsed.config.workers, 4);
  EXPECT_EQ(parsed.config.model.layers, (std::vector{3, 4}));
  EXPECT_FALSE(parsed.config.steps.has_value());
  EXPECT_EQ(parsed.flags.launch, "threads");
  EXPECT_TRUE(parsed.line.help.empty());
}

TEST(Flags, EverySortOfFieldIsSet) {
  const Parsed parsed =
      parse_words({"--workers=8", "--rate", "1e-3", "--shuffle", "--name=", "--files=a,b c,", "--steps=5",
                   "--big=18446744073709551615", "--optimizer=adam", "--model.hidden-size=9", "--model.layers=1,2,3",
                   "--launch=processes", "--seed", "9", "--dry-run"});
  EXPECT_EQ(parsed.config.workers, 8);
  EXPECT_EQ(parsed.config.rate, 1e-3);
  EXPECT_TRUE(parsed.config.shuffle);
  EXPECT_EQ(parsed.config.name, "");
  EXPECT_EQ(parsed.config.files, (Strings{"a", "b c", ""}));
  EXPECT_EQ(parsed.config.steps, 5);
  EXPECT_EQ(parsed.config.big, 18446744073709551615U);
  EXPECT_EQ(parsed.config.optimizer, Optimizer::adam);
  EXPECT_EQ(parsed.config.model.hidden_size, 9);
  EXPECT_EQ(parsed.config.model.layers, (std::vector{1, 2, 3}));
  EXPECT_EQ(parsed.flags.launch, "processes");
  EXPECT_EQ(parsed.flags.seed, 9U);
  EXPECT_TRUE(parsed.flags.dry_run);
}

TEST(Flags, ThatAreGivenAreReportedAlsoWithTheirDefaults) {
  EXPECT_EQ(parse_words({"--workers=4", "--model.hidden-size=9", "--dry_run"}).line.given,
            (Strings{"workers", "model.hidden_size", "dry_run"}));
  EXPECT_TRUE(parse_words({}).line.given.empty());
}

TEST(Flags, UnderscoresAndDashesAreOne) {
  const Parsed parsed = parse_words({"--dry_run=true", "--model.hidden_size=2", "--name=a_b=c_d"});
  EXPECT_TRUE(parsed.flags.dry_run);
  EXPECT_EQ(parsed.config.model.hidden_size, 2);
  EXPECT_EQ(parsed.config.name, "a_b=c_d");
}

TEST(Flags, AnEmptyTextEmptiesListsAndOptionals) {
  const Parsed parsed = parse_words({"--model.layers=", "--steps="});
  EXPECT_TRUE(parsed.config.model.layers.empty());
  EXPECT_FALSE(parsed.config.steps.has_value());
}

TEST(Flags, ACommaInBracesSeparatesNothing) {
  const auto files = [](const char* flag) { return parse_words({flag}).config.files; };
  using Files = std::vector<std::string>;
  EXPECT_EQ(files("--files=a{1,2},b"), (Files{"a{1,2}", "b"}));
  EXPECT_EQ(files("--files={a,{b,c}d},{}"), (Files{"{a,{b,c}d}", "{}"}));
  EXPECT_EQ(files("--files=a{1,b},{2,c"), (Files{"a{1,b}", "{2", "c"}));
  EXPECT_EQ(files("--files=}a,b,"), (Files{"}a", "b", ""}));
}

TEST(Flags, ValuesMayBeNegativeOrSpecial) {
  EXPECT_EQ(parse_words({"--model.hidden-size", "-3"}).config.model.hidden_size, -3);
  EXPECT_EQ(parse_words({"--name=--x"}).config.name, "--x");
}

TEST(Flags, InfinityIsInARangeThatIsEndless) {
  constexpr long double kInfinity = std::numeric_limits<long double>::infinity();
  EXPECT_TRUE(endless(positive).contains(kInfinity));
  EXPECT_FALSE(endless(positive).contains(-kInfinity));
  EXPECT_FALSE(endless(positive).contains(0));
  for (const Range& one : {positive, at_least(1), at_most(1), range(0, 1)}) {
    EXPECT_FALSE(one.contains(kInfinity));
    EXPECT_FALSE(one.contains(-kInfinity));
  }
  EXPECT_TRUE(Range{}.contains(kInfinity));  // it has no bounds
  EXPECT_EQ(to_string(endless(positive)), "above 0, or inf");
}

TEST(Flags, AnUnknownFlagNamesTheNearest) {
  EXPECT_EQ(parse_failure({"--wrkers=3"}), "unknown flag \"--wrkers\"; did you mean --workers?");
  EXPECT_EQ(parse_failure({"--dryrun"}), "unknown flag \"--dryrun\"; did you mean --dry-run?");
  EXPECT_EQ(parse_failure({"--hidden-size=3"}), "unknown flag \"--hidden-size\"; did you mean --model.hidden-size?");
  EXPECT_EQ(parse_failure({"--zzzzzzzzzz", "3"}), "unknown flag \"--zzzzzzzzzz\"; --help lists the flags");
  EXPECT_EQ(parse_failure({"--work=3"}), "unknown flag \"--work\"; --help lists the flags");
}

TEST(Flags, AWrongValueSaysWhatIsExpected) {
  const std::string finite = " that is a finite double (up to 1.7976931348623157e+308, down to 5e-324), got \"";
  EXPECT_EQ(parse_failure({"--workers=many"}), "--workers: expected an integer from 1 to 1024, got \"many\"");
  EXPECT_EQ(parse_failure({"--workers=0"}), "--workers: expected an integer from 1 to 1024, got \"0\"");
  EXPECT_EQ(parse_failure({"--workers=3.5"}), "--workers: expected an integer from 1 to 1024, got \"3.5\"");
  EXPECT_EQ(parse_failure({"--workers="}), "--workers: expected an integer from 1 to 1024, got \"\"");
  EXPECT_EQ(parse_failure({"--rate=0"}), "--rate: expected a number above 0, got \"0\"");
  EXPECT_EQ(parse_failure({"--rate=nan"}), "--rate: expected a number above 0, got \"nan\"");
  EXPECT_EQ(parse_failure({"--rate=inf"}), "--rate: expected a number above 0" + finite + "inf\"");
  EXPECT_EQ(parse_failure({"--rate=1e999"}), "--rate: expected a number above 0" + finite + "1e999\"");
  EXPECT_EQ(parse_failure({"--rate=1e-999"}), "--rate: expected a number above 0" + finite + "1e-999\"");
  EXPECT_EQ(parse_failure({"--rate=-inf"}), "--rate: expected a number above 0, got \"-inf\"");
  EXPECT_EQ(parse_failure({"--seed=4294967296"}),
            "--seed: expected an integer from 0 to 4294967295, got \"4294967296\"");
  EXPECT_EQ(parse_failure({"--seed=-1"}), "--seed: expected an integer from 0 to 4294967295, got \"-1\"");
  EXPECT_EQ(parse_failure({"--shuffle=maybe"}), "--shuffle: expected true or false, got \"maybe\"");
  EXPECT_EQ(parse_failure({"--optimizer=sdg"}), "--optimizer: expected one of sgd, adam, null, got \"sdg\"");
  EXPECT_EQ(parse_failure({"--model.layers=1,0,2"}),
            "--model.layers: expected a list of integers from 1 to 2147483647, got \"0\"");
}

TEST(Flags, AMissingOrStrayArgumentIsRefused) {
  EXPECT_EQ(parse_failure({"--workers"}), "--workers: expected an integer from 1 to 1024, got nothing");
  EXPECT_EQ(parse_failure({"--rate", "--workers=3"}), "--rate: expected a number above 0, got nothing");
  EXPECT_EQ(parse_failure({"--workers=2", "--workers=3"}), "--workers is given twice");
  EXPECT_EQ(parse_failure({"--model.hidden-size=2", "--model.hidden_size=3"}), "--model.hidden-size is given twice");
  EXPECT_EQ(
      parse_failure({"--shuffle", "false"}),
      "unexpected argument \"false\": a flag begins with --, and a bool flag takes its value with = (--flag=false)");
  EXPECT_EQ(parse_failure({"-w"}),
            "unexpected argument \"-w\": a flag begins with --, and a bool flag takes its value with = (--flag=false)");
  EXPECT_NE(parse_failure({"--", "x"}), "no error");
  EXPECT_NE(parse_failure({""}), "no error");
  EXPECT_NE(parse_failure({"--"}), "a crash");
  EXPECT_NE(parse_failure({"--=3"}), "no error");
}

struct Clash {
  int seed = 0;
};
struct ReservedName {
  int groups = 0;
};
struct Required {
  int port = 0;
  static constexpr auto fields = lp::fields(lp::field("port", "where to listen", lp::range(1, 65535)));
};

template <class T>
std::string parse_as(std::vector<const char*> words) {
  words.insert(words.begin(), "digits");
  T config;
  LaunchFlags flags;
  return failure([&] { parse(static_cast<int>(words.size()), words.data(), bind(config), bind(flags)); });
}

TEST(Flags, AFieldMayNotHaveANameOfLp) {
  EXPECT_EQ(parse_as<Clash>({}),
            "the configuration has a field called seed, which is the name of a flag of lp; rename the field");
  EXPECT_EQ(parse_as<ReservedName>({}),
            "the configuration has a field called groups, which is the name of a flag of lp; rename the field");
}

TEST(Flags, ADefaultOutsideItsRangeMustBeGiven) {
  EXPECT_EQ(parse_as<Required>({}), "--port must be given: an integer from 1 to 65535; its default is 0");
  EXPECT_EQ(parse_as<Required>({"--port=80"}), "no error");
}

TEST(Flags, HelpListsEveryFlagIn100Columns) {
  const std::string help = parse_words({"--workers=nonsense", "--help"}).line.help;
  EXPECT_EQ(parse_words({"-h"}).line.help, help);
  for (const char* part : {"usage: digits [flags]", "--workers", "number of workers, from 1 to 1024", "(=4)", "--rate",
                           "learning rate, above 0", "--model.hidden-size", "--dry-run", "what runs the nodes",
                           "--help", "one of sgd, adam, null"}) {
    EXPECT_NE(help.find(part), std::string::npos) << part << "\n" << help;
  }
  EXPECT_LT(help.find("--model.layers"), help.find("--launch"));
  for (std::size_t begin = 0; begin < help.size();) {
    const std::size_t end = help.find('\n', begin);
    EXPECT_LE(end - begin, 100U) << help.substr(begin, end - begin);
    begin = end + 1;
  }
}

TEST(Flags, AnyWordsAreAnErrorAtWorst) {
  const std::vector<const char*> words{"--workers", "--workers=3", "--rate=",     "--rate",  "0.5",       "",
                                       "--",        "-",           "--=",         "=",       "---",       "--shuffle",
                                       "--files",   "a,,b",        "--config",    "/",       "--steps",   "\xFF\xFE",
                                       "--model.",  "--.",         "--optimizer", "adam",    "--dry_run", "--launch",
                                       "--model",   "--__=1",      "-1",          "--big=-0"};
  std::mt19937 random(1);
  for (int i = 0; i < 5000; ++i) {
    std::vector<const char*> line(random() % 5);
    for (const char*& word : line) word = words[random() % words.size()];
    try {
      parse_words(line);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::failed);
    }
  }
  Config config;
  LaunchFlags flags;
  parse(0, nullptr, bind(config), bind(flags));  // a program may be started without even its name
}

struct LongDefaults {
  std::string prose = "a\tb " + std::string(200, 'x');
  std::string lines = "1\n2";
  std::vector<int> many = std::vector<int>(100, 7);
};

TEST(Flags, HelpShortensLongDefaults) {
  LongDefaults config;
  LaunchFlags flags;
  const std::string help = help_text("digits", bind(config), bind(flags));
  EXPECT_NE(help.find("(=a\\tb xxxxxxxxxxxxxxxxxxx...)"), std::string::npos) << help;
  EXPECT_NE(help.find("(=1\\n2)"), std::string::npos) << help;
  EXPECT_NE(help.find("(=7,7,7,7,7,7,7,7,7,7,7,7,...)"), std::string::npos) << help;
}

struct Shown {
  std::string kind = "a";
  int size = 1;
  int depth = 2;
};

TEST(Flags, HelpShowsTheSectionsForWhatIsGivenBesideIt) {
  Shown config;
  LaunchFlags flags;
  std::vector<std::string> seen;
  const HelpSections sections = [&](std::span<const std::string> given) {
    seen.assign(given.begin(), given.end());
    return std::vector<HelpSection>{{.title = "of kind " + config.kind, .fields = {"kind", "depth"}}};
  };
  const auto help_of = [&](std::vector<const char*> words) {
    words.insert(words.begin(), "program");
    return parse(static_cast<int>(words.size()), words.data(), bind(config), bind(flags), sections).help;
  };
  const std::string help = help_of({"--kind=b", "--help"});
  EXPECT_NE(help.find("of kind b:\n  --kind string (=a)"), std::string::npos)
      << help;  // its default, not the given value
  EXPECT_NE(help.find("--depth"), std::string::npos);
  EXPECT_NE(help.find("--config"), std::string::npos);
  EXPECT_EQ(help.find("--size"), std::string::npos);
  EXPECT_EQ(seen, std::vector<std::string>{"kind"});
  // a wrong flag does not prevent the help
  EXPECT_NE(help_of({"--kindd=b", "-h"}).find("of kind a:"), std::string::npos);
  EXPECT_TRUE(seen.empty());
}

}  // namespace
}  // namespace lp::test

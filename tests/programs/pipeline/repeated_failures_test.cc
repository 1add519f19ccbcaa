// Functions that fail on several records together, as they would after a restart: the run ends at once, and names the
// key. Failures of the system may pass, so the stage begins again.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "tests/programs/pipeline/pipeline_run.h"

namespace lp {
namespace {

using test::Identity;
using test::PipelineFiles;
using test::run_pipeline;
using test::write_lines;

// A file of places: a name and a place on each line. "bad" has two.
std::string places(const PipelineFiles& files) {
  return files.write("places", "good 1\nbad 1\nother 2\nbad 2\ngood 1\n");
}

// A name, and its place.
struct Named {
  std::string name{};
  std::string place{};
};
Named named(std::string_view line) {
  return {std::string(line.substr(0, line.find(' '))), std::string(line.substr(line.find(' ') + 1))};
}

// The failure of a pipeline whose stages may be restarted often. Its function is called twice, and not after a restart.
std::string repeated_failure(const std::function<void(Pipeline&, std::function<void()> fail)>& build,
                             PipelineOptions options = {}) {
  std::atomic<int> calls = 0;
  Pipeline pipeline;
  build(pipeline, [&calls] {
    ++calls;
    throw std::invalid_argument("two places");
  });
  options.replicas = 2;
  options.restarts = 5;
  options.restart_after = std::chrono::milliseconds(1);
  const std::string failure = run_pipeline(pipeline, options);
  EXPECT_GE(calls, 2);
  EXPECT_LE(calls, 4);  // when the record is looked for, too
  return failure;
}

void expect_in(const std::string& failure, const std::string& part) {
  EXPECT_NE(failure.find(part), std::string::npos) << failure;
  EXPECT_NE(failure.find(" cannot be used: std::invalid_argument: two places"), std::string::npos) << failure;
}

Flow<Named> read_places(Pipeline& pipeline, const std::string& path) {
  return pipeline.read({.paths = {path}}, {.name = "read", .replicas = 1}).map(named);
}
std::string_view name_of(const Named& one) { return one.name; }

TEST(RepeatedFailuresTest, AGroupNamesItsKey) {
  const PipelineFiles files;
  const std::string path = places(files);
  const std::string failure = repeated_failure([&](Pipeline& pipeline, const auto& fail) {
    write_lines(read_places(pipeline, path)
                    .key_by(name_of, {.name = "groups"})
                    .group<std::string>([fail](std::string_view, Records<Named>& records, auto& out) {
                      std::string place;
                      for (const Named& one : records) {
                        if (!place.empty() && place != one.place) fail();
                        place = one.place;
                      }
                      out(place);
                    }),
                files.output());
  });
  expect_in(failure, "groups: the records of the key \"bad\"");
}

TEST(RepeatedFailuresTest, AResultOfAGroupNamesItsKey) {
  const PipelineFiles files;
  const std::string path = places(files);
  const std::string failure = repeated_failure([&](Pipeline& pipeline, const auto& fail) {
    write_lines(
        read_places(pipeline, path)
            .key_by(name_of, {.name = "groups"})
            .group<std::string>([](std::string_view name, Records<Named>&, auto& out) { out(std::string(name)); })
            .map([fail](const std::string& name) {
              if (name == "bad") fail();
              return name;
            }),
        files.output());
  });
  expect_in(failure, "groups: the records of the key \"bad\"");
}

TEST(RepeatedFailuresTest, AJoinNamesItsKey) {
  const PipelineFiles files;
  const std::string path = places(files);
  for (const bool cached : {false, true}) {
    const std::string failure = repeated_failure(
        [&](Pipeline& pipeline, const auto& fail) {
          const auto join = [fail](const Named& left, const Named& right) {
            if (left.place != right.place) fail();
            return left.place;
          };
          const auto lefts = read_places(pipeline, path).key_by(name_of, {.name = "joined"});
          const auto rights = read_places(pipeline, path).key_by(name_of);
          write_lines(cached ? lefts.cache().join(rights, join) : lefts.join(rights, join), files.output());
        },
        {.scratch = files.path() / "scratch"});
    expect_in(failure, ": the records of the key \"bad\"");
  }
}

TEST(RepeatedFailuresTest, ASumOfARecordNamesThePlaceOfTheRecordAndItsKey) {
  const PipelineFiles files;
  const std::string path = files.write("numbers", "a 1\nb 2\na 40\n");
  const std::string failure = repeated_failure([&](Pipeline& pipeline, const auto& fail) {
    read_places(pipeline, path)
        .key_by(name_of, {.name = "sums"})
        .template aggregate<std::uint64_t>(
            [fail](std::uint64_t& sum, const Named& one) {
              if (one.place == "40") fail();
              sum += std::stoull(one.place);
            },
            [](std::uint64_t& sum, std::uint64_t other) { sum += other; })
        .write(files.output(), [](const auto& one, Output& out) { out.line(one.second); });
  });
  expect_in(failure, "read: the record at byte 8 of " + path + ", of the key \"a\",");
}

TEST(RepeatedFailuresTest, RecordsThatCannotBeReducedNameTheirKey) {
  const PipelineFiles files;
  const std::string path = files.write("numbers", "1\n2\n3\n2\n");
  const auto reduce = [&](int replicas) {
    return repeated_failure([&](Pipeline& pipeline, const auto& fail) {
      pipeline.read({.paths = {path}, .split_bytes = 1}, {.name = "read", .replicas = replicas})
          .map([](std::string_view line) { return std::stoi(std::string(line)); })
          .key_by([](int number) { return number; }, {.name = "reduced"})
          .reduce([fail](int, int) -> int {
            fail();
            return 0;
          })
          .write(files.output(), [](const auto& one, Output& out) { out.line(one.second); });
    });
  };
  expect_in(reduce(1), "read: the record at byte 6 of " + path + ", of the key 2,");
  // Each replica has one of the two, or one of them has both.
  expect_in(reduce(2), " the key 2");
}

// Sums that two replicas have made.
TEST(RepeatedFailuresTest, SumsThatCannotBeMergedNameTheirKey) {
  const PipelineFiles files;
  const std::string failure = repeated_failure([&](Pipeline& pipeline, const auto& fail) {
    pipeline.generate(Identity(), {.count = 2}, {.name = "read", .replicas = 2})
        .key_by([](std::uint64_t) { return std::string("a\n") + std::string(1000, 'x'); }, {.name = "sums"})
        .template aggregate<std::uint64_t>([](std::uint64_t& sum, std::uint64_t one) { sum += one; },
                                           [fail](std::uint64_t&, std::uint64_t) { fail(); })
        .write(files.output(), [](const auto& one, Output& out) { out.line(one.second); });
  });
  expect_in(failure, "sums: the sums of the key \"a\\nxxx");
  EXPECT_NE(failure.find("x\"... (1002 bytes)"), std::string::npos) << failure;
  EXPECT_LT(failure.size(), 600U);
}

TEST(RepeatedFailuresTest, AResultOfASumNamesItsKey) {
  const PipelineFiles files;
  const std::string failure = repeated_failure([&](Pipeline& pipeline, const auto& fail) {
    pipeline.generate(Identity(), {.count = 5000}, {.name = "read"})
        .key_by(Identity(), {.name = "counts"})
        .count()
        .write(files.output(), [fail](const auto& one, Output& out) {
          if (one.first == 4321) fail();
          out.line(one.first);
        });
  });
  expect_in(failure, "counts: the sum of the key 4321");
}

TEST(RepeatedFailuresTest, AStateNamesItsKey) {
  const PipelineFiles files;
  const std::string failure = repeated_failure([&](Pipeline& pipeline, const auto& fail) {
    write_lines(read_places(pipeline, places(files))
                    .key_by(name_of, {.name = "states"})
                    .template with_state<std::string, std::string>(
                        [fail](std::string_view, std::string& place, const Named& one, auto& out) {
                          if (!place.empty() && place != one.place) fail();
                          place = one.place;
                          out(place);
                        }),
                files.output());
  });
  expect_in(failure, "states: the record with the bytes ");
  expect_in(failure, ", of the key \"bad\",");
}

TEST(RepeatedFailuresTest, AWindowNamesItsKeyAndItsTime) {
  for (const auto& windows :
       {Windows::tumbling(std::chrono::milliseconds(10)), Windows::session(std::chrono::milliseconds(10))}) {
    for (const std::string what : {"group", "result", "add"}) {
      const PipelineFiles files;
      const std::string failure = repeated_failure([&](Pipeline& pipeline, const auto& fail) {
        const auto time_of = [](std::uint64_t number) { return static_cast<EventTime>(100 * number); };
        const auto windowed =
            pipeline.generate(Identity(), {.count = 9}, {.name = "read"})
                .event_time(time_of)
                .key_by([](std::uint64_t number) { return "n" + std::to_string(number); }, {.name = "windows"})
                .window(windows, time_of);
        if (what == "group") {
          write_lines(windowed.template group<std::string>(
                          [fail](const std::string& key, const Window&, const auto&, auto& out) {
                            if (key == "n7") fail();
                            out(key);
                          }),
                      files.output());
        } else if (what == "result") {
          windowed.count().write(files.output(), [fail](const auto& one, Output& out) {
            if (one.key == "n7") fail();
            out.line(one.key);
          });
        } else {
          windowed
              .template aggregate<std::uint64_t>(
                  [fail](std::uint64_t& sum, std::uint64_t number) {
                    if (number == 7) fail();
                    sum += number;
                  },
                  [](std::uint64_t& sum, std::uint64_t other) { sum += other; })
              .write(files.output(), [](const auto& one, Output& out) { out.line(one.key); });
        }
      });
      expect_in(failure,
                what == "add" ? ", of the key \"n7\"," : "windows: the window from 700 to 710 of the key \"n7\"");
    }
  }
}

TEST(RepeatedFailuresTest, AFailureOfTheSystemMayPass) {
  for (const bool grouped : {false, true}) {
    const PipelineFiles files;
    std::atomic<int> calls = 0;
    const auto fail_thrice = [&calls] {
      if (++calls <= 3) throw std::system_error(std::make_error_code(std::errc::io_error), "a table");
    };
    Pipeline pipeline;
    const auto lines = pipeline.read({.paths = {files.write("lines", "one\n")}}, {.replicas = 1});
    if (grouped) {
      write_lines(lines.key_by([](std::string_view line) { return line; })
                      .group<std::string>([&](std::string_view line, auto&, auto& out) {
                        fail_thrice();
                        out(std::string(line));
                      }),
                  files.output());
    } else {
      write_lines(lines.map([&](std::string_view line) {
        fail_thrice();
        return std::string(line);
      }),
                  files.output());
    }
    EXPECT_EQ(run_pipeline(pipeline, {.restarts = 3, .restart_after = std::chrono::milliseconds(1)},
                           {.directory = files.path() / "run"}),
              "");
    EXPECT_EQ(files.lines(), (std::multiset<std::string>{"one"}));
  }
}

}  // namespace
}  // namespace lp

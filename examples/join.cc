// Joins two inputs by key. A line has a time in milliseconds, a key and a value, which may have blanks inside; a result
// has a key and the values of two lines with that key. A line that is empty or begins with '#' is left out. Another one
// ends the program, unless --pipeline.skip-records allows so many of them. With --seconds, both lines are in the same
// window of time, and the inputs may be streams.
//
//   build/examples/join --pipeline.input=orders --with=payments --pipeline.into=paid --launch=processes
//   build/examples/join --pipeline.input=orders --with=payments --pipeline.into=paid --seconds=60
//
// With --seconds, the lines of an input come in about the order of their times, at most a second late.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "launchers/main.h"
#include "lp/lp.h"
#include "programs/pipeline/pipeline_flags.h"

struct Config {
  lp::PipelineFlags pipeline{};
  std::vector<std::string> with{};
  std::uint32_t seconds = 0;
  static constexpr auto fields =
      lp::fields(lp::field("with", "the other input: files, directories or globs in quotes, with commas between them"),
                 lp::field("seconds", "of a window; 0: all lines of a key are joined"));
};

struct Row {
  lp::EventTime time = 0;
  std::string_view key{};
  std::string_view value{};
};

void row_of(std::string_view line, lp::dataflow::Collector<Row>& out) {
  std::vector<std::string_view> words;
  for (const std::string_view word : lp::words(line)) words.push_back(word);
  if (words.empty() || words[0].starts_with('#')) return;  // a comment
  if (words.size() < 3) throw lp::Error(lp::ErrorKind::failed, "a line has no time, key and value");
  const char* const value = words[2].data();
  const char* const end = words.back().data() + words.back().size();
  out({.time = lp::number_of<lp::EventTime>(words[0], "a line does not begin with its time"),
       .key = words[1],
       .value = {value, static_cast<std::size_t>(end - value)}});
}

lp::Program make_program(const Config& config) {
  const auto key_of = [](const Row& row) { return row.key; };
  const auto time_of = [](const Row& row) { return row.time; };
  const auto both = [](const Row& left, const Row& right) {
    return std::string(left.key).append("\t").append(left.value).append("\t").append(right.value);
  };
  if (config.with.empty()) throw lp::Error(lp::ErrorKind::failed, "a join needs another input: --with=FILES");
  lp::Pipeline pipeline;
  lp::PipelineFlags other = config.pipeline;
  other.input = config.with;
  other.replay.clear();
  const auto rows_of = [&](const lp::PipelineFlags& flags) {
    const auto rows = lines_of(pipeline, flags).flat_map<Row>(row_of);
    return config.seconds == 0 ? rows : lp::Flow<Row>(rows.event_time(time_of, std::chrono::seconds(1)));
  };
  const auto lefts = rows_of(config.pipeline).key_by(key_of, {.name = "join"});
  const auto rights = rows_of(other).key_by(key_of);
  const auto write = [&](const lp::Flow<std::string>& results) {
    results.write(config.pipeline.into, [](const std::string& line, lp::Output& out) { out.line(line); });
  };
  if (config.seconds == 0) {
    write(lefts.join(rights, both));
  } else {
    const auto windows = lp::Windows::tumbling(std::chrono::seconds(config.seconds));
    write(lefts.window(windows, time_of).join(rights, time_of, both));
  }
  lp::Program program("join");
  add_pipeline(program, pipeline, options_of(config.pipeline));
  return program;
}

lp::PipelineResult report(lp::Run& run, const Config&) {
  return run.client<lp::PipelineMaster>("pipeline").call<&lp::PipelineMaster::result>();
}

int main(int argc, char** argv) { return lp::main<Config>(argc, argv, make_program, report); }

// Counts words in windows of time, while they come. A line is a time in milliseconds, and words. Another line ends the
// program, unless --pipeline.skip-records allows so many of them; the result has their number.
//
//   build/examples/stream_wordcount --pipeline.input=log --pipeline.follow --pipeline.into=counts --launch=processes
//   build/examples/stream_wordcount --pipeline.replay=log --pipeline.into=again
//
// The files in the directory `log` may grow, and more may come. Counts appear in the directory `counts` when the time
// of the lines has passed their window, with the next checkpoint. Words that come too late are in counts/late.

#include <cstdint>
#include <optional>
#include <string_view>

#include "launchers/main.h"
#include "lp/lp.h"
#include "programs/pipeline/pipeline_flags.h"

struct Config {
  lp::PipelineFlags pipeline{};
  std::uint32_t seconds = 10;
  std::uint32_t disorder = 1;
  std::uint32_t lateness = 0;
  static constexpr auto fields = lp::fields(
      lp::field("seconds", "of a window of time; each line begins with its time in milliseconds", lp::at_least(1)),
      lp::field("disorder", "seconds that a line may come after later ones, for its window to be complete"),
      lp::field("lateness", "seconds after which a late line still changes its window"));
};

struct Word {
  std::string_view word{};
  lp::EventTime time = 0;
};

void words_of(std::string_view line, lp::dataflow::Collector<Word>& out) {
  std::optional<lp::EventTime> time;
  for (const std::string_view word : lp::words(line)) {
    if (time) {
      out({word, *time});
    } else {
      time = lp::number_of<lp::EventTime>(word, "a line has no time in front of its words");
    }
  }
}

lp::Program make_program(const Config& config) {
  const auto time_of = [](const Word& one) { return one.time; };
  lp::Pipeline pipeline;
  const auto counts = lines_of(pipeline, config.pipeline)
                          .flat_map<Word>(words_of)
                          .event_time(time_of, std::chrono::seconds(config.disorder))
                          .key_by([](const Word& one) { return one.word; }, {.name = "count"})
                          .window(lp::Windows::tumbling(std::chrono::seconds(config.seconds)), time_of,
                                  {.lateness = std::chrono::seconds(config.lateness)})
                          .count();
  counts.write(config.pipeline.into,
               [](const auto& one, lp::Output& out) { out.line(one.window.begin, '\t', one.key, '\t', one.value); });
  counts.late().write(config.pipeline.into + "/late",
                      [](const Word& one, lp::Output& out) { out.line(one.time, '\t', one.word); });
  lp::Program program("stream_wordcount");
  add_pipeline(program, pipeline, options_of(config.pipeline));
  return program;
}

lp::PipelineResult report(lp::Run& run, const Config&) {
  return run.client<lp::PipelineMaster>("pipeline").call<&lp::PipelineMaster::result>();
}

int main(int argc, char** argv) { return lp::main<Config>(argc, argv, make_program, report); }

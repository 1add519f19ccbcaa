// Finds the sessions of users in a log of clicks, while it grows: a session ends when its user does nothing for a
// while. A line is a time in milliseconds, and a user.
//
//   build/examples/sessions --pipeline.input=clicks --pipeline.follow --pipeline.into=found --launch=processes
//
// A line of the result has the user, the begin of the session, its length in milliseconds, and its clicks.

#include <cstdint>
#include <optional>
#include <string_view>

#include "launchers/main.h"
#include "lp/lp.h"
#include "programs/pipeline/pipeline_flags.h"

struct Config {
  lp::PipelineFlags pipeline{};
  std::uint32_t gap = 1800;
  std::uint32_t disorder = 1;
  static constexpr auto fields = lp::fields(
      lp::field("gap", "seconds without a click that end a session", lp::at_least(1)),
      lp::field("disorder", "seconds that a line may come after later ones, for its session to be complete"));
};

struct Click {
  std::string_view user{};
  lp::EventTime time = 0;
};

void click_of(std::string_view line, lp::dataflow::Collector<Click>& out) {
  std::optional<lp::EventTime> time;
  for (const std::string_view word : lp::words(line)) {
    if (time) return out({.user = word, .time = *time});
    time = lp::number_of<lp::EventTime>(word, "a line has no time in front of its user");
  }
}

lp::Program make_program(const Config& config) {
  const auto time_of = [](const Click& click) { return click.time; };
  const lp::EventTime gap = 1000 * lp::EventTime{config.gap};
  lp::Pipeline pipeline;
  const auto sessions = lines_of(pipeline, config.pipeline)
                            .flat_map<Click>(click_of)
                            .event_time(time_of, std::chrono::seconds(config.disorder))
                            .key_by([](const Click& click) { return click.user; }, {.name = "sessions"})
                            .window(lp::Windows::session(std::chrono::seconds(config.gap)), time_of)
                            .count();
  sessions.write(config.pipeline.into, [gap](const auto& one, lp::Output& out) {
    out.line(one.key, '\t', one.window.begin, '\t', one.window.end - gap - one.window.begin, '\t', one.value);
  });
  sessions.late().write(config.pipeline.into + "/late",
                        [](const Click& click, lp::Output& out) { out.line(click.time, '\t', click.user); });
  lp::Program program("sessions");
  add_pipeline(program, pipeline, options_of(config.pipeline));
  return program;
}

lp::PipelineResult report(lp::Run& run, const Config&) {
  return run.client<lp::PipelineMaster>("pipeline").call<&lp::PipelineMaster::result>();
}

int main(int argc, char** argv) { return lp::main<Config>(argc, argv, make_program, report); }

// Keyed counts in windows over generated events, for tests/bench/streams.py: as fast as possible, or at a rate, with
// the delay of each result behind the end of its window.

#include <cstdint>
#include <string>

#include "launchers/main.h"
#include "lp/base/hash.h"
#include "lp/lp.h"
#include "programs/pipeline/pipeline_flags.h"

namespace {

struct Config {
  lp::PipelineFlags pipeline{};
  std::uint64_t events = 20'000'000;
  double rate = 0;
  std::uint64_t keys = 10'000;
  std::uint64_t window_ms = 1000;
  static constexpr auto fields =
      lp::fields(lp::field("events", "how many"), lp::field("rate", "events in a second; 0: as fast as possible"),
                 lp::field("keys", "how many"), lp::field("window_ms", "of a window"));
};

struct Event {
  std::uint64_t key = 0;
  lp::EventTime time = 0;
};

lp::EventTime milliseconds_now() { return lp::wall_clock() / 1'000'000; }

lp::Program make_program(const Config& config) {
  constexpr std::uint64_t kEventsInMillisecond = 1000;  // in event time, when the events come as fast as possible
  const bool timed = config.rate > 0;
  const std::uint64_t keys = config.keys;
  lp::Pipeline pipeline;
  pipeline
      .generate(
          [timed, keys](std::uint64_t number) {
            const auto time = timed ? milliseconds_now() : static_cast<lp::EventTime>(number / kEventsInMillisecond);
            return Event{.key = lp::mix64(number) % keys, .time = time};
          },
          {.count = config.events, .rate = config.rate})
      .event_time([](const Event& event) { return event.time; })
      .key_by([](const Event& event) { return event.key; }, {.name = "count"})
      .window(lp::Windows::tumbling(std::chrono::milliseconds(config.window_ms)),
              [](const Event& event) { return event.time; })
      .count()
      .write(config.pipeline.into, [timed](const auto& one, lp::Output& out) {
        out.line(one.value, '\t', timed ? milliseconds_now() - one.window.end : 0);
      });
  lp::Program program("streams_bench");
  add_pipeline(program, pipeline, options_of(config.pipeline));
  return program;
}

lp::PipelineResult report(lp::Run& run, const Config&) {
  return run.client<lp::PipelineMaster>("pipeline").call<&lp::PipelineMaster::result>();
}

}  // namespace

int main(int argc, char** argv) { return lp::main<Config>(argc, argv, make_program, report); }

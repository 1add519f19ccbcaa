// One function makes a table of a stream, and makes it again of the stream's raw log (Kappa). A line is a time in
// milliseconds, a sensor and an integer; the table has the number and the sum of each sensor's values in each minute.
// Another line ends the program, unless --pipeline.skip-records allows so many of them.
//
//   build/examples/kappa --port=7000 --log=log --launch=processes        takes lines over TCP, and keeps them in `log`
//   build/examples/kappa --pipeline.replay=log                           the same table, of the log
//   build/examples/kappa --port=7000 --log=new --batch=log               a table of both: a batch layer and a speed
//                                                                        layer that are served as one (Lambda)
// The result shows the size of the table and a hash of its rows.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launchers/main.h"
#include "lp/base/hash.h"
#include "lp/lp.h"
#include "programs/pipeline/pipeline_flags.h"

struct Config {
  lp::PipelineFlags pipeline{};
  std::string log{};
  std::string batch{};
  std::uint16_t port = 0;
  std::uint64_t connections = 1;
  std::uint32_t disorder = 5;
  static constexpr auto fields =
      lp::fields(lp::field("log", "directory for the raw log"),
                 lp::field("batch", "directory of an older raw log, which is read beside the stream"),
                 lp::field("port", "where lines come in; 0: at a free one, which log/.port has"),
                 lp::field("connections", "the stream ends after so many senders; 0: never"),
                 lp::field("disorder", "seconds that a line may come after later ones, for its minute to be complete"));

  void check_given(std::span<const std::string> given) const {
    for (const std::string_view flag : {"port", "connections"}) {
      if (pipeline.replay.empty() || std::find(given.begin(), given.end(), flag) == given.end()) continue;
      throw lp::Error(lp::ErrorKind::failed,
                      "--" + std::string(flag) + " has no effect with --pipeline.replay: a replay takes no lines");
    }
  }
};

struct Reading {
  std::string sensor{};
  lp::EventTime time = 0;
  std::int64_t value = 0;
};
struct Total {
  std::uint64_t count = 0;
  std::int64_t sum = 0;
};
struct Row {
  std::string sensor{};
  lp::EventTime minute = 0;
  Total total{};
};

// Serves both layers: what they say of the same minute is added. It is in memory alone, and the rows that it has taken
// will not come again. So the program ends with it, and a replay of the log makes the table again.
class Table {
 public:
  void add(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      Total& total = rows_[{row.sensor, row.minute}];
      total.count += row.total.count;
      total.sum += row.total.sum;
    }
  }
  Total total(const std::string& sensor, lp::EventTime minute) const {
    const auto at = rows_.find({sensor, minute});
    return at == rows_.end() ? Total() : at->second;
  }
  std::pair<std::uint64_t, std::uint64_t> size_and_hash() const {
    std::string all;
    for (const auto& [key, total] : rows_) {
      all += key.first + ' ' + std::to_string(key.second) + ' ' + std::to_string(total.count) + ' ' +
             std::to_string(total.sum) + '\n';
    }
    return {rows_.size(), lp::fnv1a(all)};
  }
  using Remote = lp::Methods<lp::once<&Table::add>, &Table::total, &Table::size_and_hash>;

 private:
  std::map<std::pair<std::string, lp::EventTime>, Total> rows_{};
};

void reading_of(std::string_view line, lp::dataflow::Collector<Reading>& out) {
  std::vector<std::string_view> words;
  for (const std::string_view word : lp::words(line)) words.push_back(word);
  if (words.empty()) return;
  if (words.size() != 3) throw lp::Error(lp::ErrorKind::failed, "a line is no time, sensor and integer");
  out({.sensor = std::string(words[1]),
       .time = lp::number_of<lp::EventTime>(words[0], "a line does not begin with its time"),
       .value = lp::number_of<std::int64_t>(words[2], "a line does not end with its value")});
}

// The function of both layers, and of the replay.
lp::Flow<Row> rows_of(const lp::Flow<std::string_view>& lines, const std::string& name, std::uint32_t disorder) {
  const auto time_of = [](const Reading& reading) { return reading.time; };
  return lines.flat_map<Reading>(reading_of)
      .event_time(time_of, std::chrono::seconds(disorder))
      .key_by([](const Reading& reading) { return reading.sensor; }, {.name = name})
      .window(lp::Windows::tumbling(std::chrono::minutes(1)), time_of)
      .aggregate<Total>(
          [](Total& total, const Reading& reading) {
            ++total.count;
            total.sum += reading.value;
          },
          [](Total& total, const Total& other) {
            total.count += other.count;
            total.sum += other.sum;
          })
      .map([](const auto& one) {
        return Row{one.key, one.window.begin, one.value};
      });
}

void need(bool fits, const std::string& what) {
  if (!fits) throw lp::Error(lp::ErrorKind::failed, what);
}

std::filesystem::path end_of(const std::string& log) { return std::filesystem::path(log) / ".end"; }

// The log has all lines, so a run over it from its begin has what no checkpoint has: the rows of the table.
void prepare(const Config& config, const std::string& resumed) {
  need(resumed.empty() && config.pipeline.from.empty(),
       "the table of kappa is in memory alone, so a run does not go on from a checkpoint of another one: give --log "
       "again, which is read from its begin, or --pipeline.replay, without --resume and --pipeline.from");
  need(config.log.empty() || !std::filesystem::exists(end_of(config.log)),
       "the stream of the log " + config.log + " has ended, as " + end_of(config.log).string() +
           " says: make its table with --pipeline.replay=" + config.log +
           ", name another --log, or remove that file, and the stream goes on behind the lines that are there");
}

void check(const Config& config) {
  const lp::PipelineFlags& flags = config.pipeline;
  need(flags.input.empty() && flags.into.empty() && !flags.follow && flags.until.empty(),
       "kappa takes lines over TCP, or with --pipeline.replay from a log, and makes a table: --pipeline.input, "
       "--pipeline.follow, --pipeline.until and --pipeline.into have no meaning here");
  need(!config.log.empty() || !flags.replay.empty(),
       "the stream needs a directory for its raw log: --log=DIRECTORY; a replay of one: --pipeline.replay=DIRECTORY");
  need(config.log.empty() || flags.replay.empty(),
       "give --log for a stream, or --pipeline.replay for a log that is there, not both");
}

lp::Program make_program(const Config& config) {
  check(config);
  lp::Program program("kappa");
  const auto table = program.add<Table>({.name = "table"});
  lp::Pipeline pipeline;
  if (!config.pipeline.replay.empty()) {
    // One replica reads the log, which is one file, as that of the stream did: the order decides which lines are late.
    const auto lines = pipeline.read({.paths = {config.pipeline.replay}}, {.name = "lines", .replicas = 1});
    rows_of(lines, "totals", config.disorder).call<&Table::add>(table);
  } else {
    const std::filesystem::path end = end_of(config.log);
    lp::add_line_listener(program,
                          {.port = config.port, .log = config.log, .connections = config.connections, .until = end});
    const auto lines = pipeline.follow({.paths = {config.log}, .until = end}, {.name = "lines", .replicas = 1});
    rows_of(lines, "totals", config.disorder).call<&Table::add>(table);
  }
  if (!config.batch.empty()) {
    rows_of(pipeline.read({.paths = {config.batch}}, {.name = "old-lines", .replicas = 1}), "old-totals",
            config.disorder)
        .call<&Table::add>(table);
  }
  add_pipeline(program, pipeline, options_of(config.pipeline));
  return program;
}

struct Result {
  std::uint64_t rows = 0;
  std::uint64_t hash = 0;
};

Result report(lp::Run& run, const Config&) {
  const auto [rows, hash] = run.client<Table>("table").call<&Table::size_and_hash>();
  return {rows, hash};
}

int main(int argc, char** argv) { return lp::main<Config>(argc, argv, make_program, report, prepare); }

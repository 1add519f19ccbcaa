#include "tests/bench/rpc/section.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>

namespace lp::bench {
namespace {

// From the command to the beginning of the measured time: for itself, for each caller, and for each call in flight
// then.
constexpr Duration kSettle = std::chrono::milliseconds(10);
constexpr Duration kSettleCaller = std::chrono::milliseconds(4);
constexpr Duration kSettleCall = std::chrono::microseconds(20);

Duration settle_time(const Case& one) {
  return kSettle + one.callers * (kSettleCaller + one.work.window * kSettleCall);
}

// One line on a terminal that is overwritten again and again.
void show_progress(const std::string& text) {
  if (isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "\r\033[K%s", text.c_str());
}

double value_of(const Case& one, const std::vector<Figures>& figures) {
  std::uint64_t calls = 0;
  for (const Figures& of_caller : figures) calls += of_caller.calls;
  const double seconds = std::chrono::duration<double>(Duration(one.work.duration)).count();
  switch (one.unit) {
    case Unit::microseconds: return figures.front().median;
    case Unit::calls_per_second: return static_cast<double>(calls) / seconds;
    case Unit::gigabytes_per_second: return static_cast<double>(kBulk) / figures.front().median / 1e3;
  }
  return 0;
}

struct Running {
  std::string name;
  std::unique_ptr<Session> session{};
  std::string error{};
};

std::vector<Running> start(const std::vector<Contestant>& contestants, Size size) {
  std::vector<Running> running;
  for (const Contestant& contestant : contestants) {
    running.push_back({.name = contestant.name});
    try {
      running.back().session = contestant.start(size);
    } catch (const std::exception& error) {
      running.back().error = error.what();
    }
  }
  return running;
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::vector<Result> measure_section(const std::vector<Contestant>& contestants, Size size,
                                    const std::vector<Case>& cases, int rounds) {
  const std::vector<int> all_cores = cores();
  std::vector<Running> peers = start(contestants, size);
  std::vector<Result> results;
  for (const Case& one : cases) {
    for (const Running& peer : peers) {
      results.push_back({.table = one.table, .column = one.column, .peer = peer.name, .error = peer.error});
    }
  }
  std::vector<std::vector<double>> highs(results.size());
  std::optional<Pinning> pinned;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const Case& one = cases[i];
      for (std::size_t j = 0; j < peers.size(); ++j) {
        Session* const session = peers[j].session.get();
        if (session == nullptr) continue;
        if (pinned != one.pinning || j > 0) pin(session->services(), session->callers(), one.pinning, all_cores);
        pinned = one.pinning;
        Result& result = results[i * peers.size() + j];
        show_progress(std::to_string(round + 1) + "/" + std::to_string(rounds) + "  " + one.table + "  " + one.column +
                      "  " + result.peer);
        Work work = one.work;
        work.begin = (now() + settle_time(one)).time_since_epoch().count();
        try {
          const std::vector<Figures> figures = session->measure(work, one.callers);
          result.rounds.push_back(value_of(one, figures));
          highs[i * peers.size() + j].push_back(figures.front().high);
        } catch (const std::exception& error) {
          result.error = error.what();
          peers[j].session.reset();  // its remaining output is of no use
        }
      }
    }
  }
  show_progress("");
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i].value = median(results[i].rounds);
    results[i].high = median(highs[i]);
  }
  return results;
}

}  // namespace lp::bench

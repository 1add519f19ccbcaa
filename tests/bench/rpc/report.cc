#include "tests/bench/rpc/report.h"

#include <algorithm>
#include <cmath>

#include "tests/bench/rpc/plan.h"

namespace lp::bench {
namespace {

// Three significant digits: 0.0421, 4.21, 42.1, 42100.
std::string number(double value) {
  const int digits = value <= 0 ? 0 : std::max(0, 2 - static_cast<int>(std::floor(std::log10(value))));
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", std::min(digits, 4), value);
  return text;
}

std::vector<std::string> distinct(const std::vector<Result>& results, std::string Result::*field) {
  std::vector<std::string> found;
  for (const Result& result : results) {
    if (std::ranges::find(found, result.*field) == found.end()) found.push_back(result.*field);
  }
  return found;
}

void print_table(const std::string& table, const std::vector<Result>& results, std::FILE* out) {
  std::vector<Result> rows;
  std::ranges::copy_if(results, std::back_inserter(rows), [&](const Result& one) { return one.table == table; });
  const std::vector<std::string> columns = distinct(rows, &Result::column);
  std::fprintf(out, "\n%s\n%-14s", table.c_str(), "");
  for (const std::string& column : columns) std::fprintf(out, " %11s", column.c_str());
  for (const std::string& peer : distinct(rows, &Result::peer)) {
    std::fprintf(out, "\n%-14s", peer.c_str());
    for (const std::string& column : columns) {
      const auto found =
          std::ranges::find_if(rows, [&](const Result& one) { return one.peer == peer && one.column == column; });
      const bool there = found != rows.end() && !found->rounds.empty();
      std::fprintf(out, " %11s", there ? number(found->value).c_str() : "-");
    }
  }
  std::fprintf(out, "\n");
}

// Finds figures; 0 stands for an unmeasured one.
class Figure {
 public:
  explicit Figure(const std::vector<Result>& results) : results_(results) {}
  double of(const std::string& table, const std::string& column, const std::string& peer) const {
    for (const Result& one : results_) {
      if (one.table == table && one.column == column && one.peer == peer) return one.value;
    }
    return 0;
  }
  // The highest of the columns that begin with `column`.
  double best(const std::string& table, const std::string& column, const std::string& peer) const {
    double best = 0;
    for (const Result& one : results_) {
      if (one.table == table && one.column.starts_with(column) && one.peer == peer) best = std::max(best, one.value);
    }
    return best;
  }

 private:
  const std::vector<Result>& results_;
};

double lower(double a, double b) { return a == 0 || (b != 0 && b < a) ? b : a; }

class Claims {
 public:
  void at_most(const std::string& text, double above, double below, double bound) {
    add(text, above, below, bound, true);
  }
  void at_least(const std::string& text, double above, double below, double bound) {
    add(text, above, below, bound, false);
  }
  // Adds a claim about a difference in nanoseconds.
  void nanoseconds_above(const std::string& text, double micros, double floor, double bound) {
    const bool measured = micros > 0 && floor > 0;
    const double value = (micros - floor) * 1e3;
    all.push_back({text, measured ? value : 0, bound, true, measured, measured && value <= bound});
  }
  std::vector<Claim> all;

 private:
  void add(const std::string& text, double above, double below, double bound, bool at_most) {
    const bool measured = above > 0 && below > 0;
    const double value = measured ? above / below : 0;
    all.push_back({text, value, bound, at_most, measured, measured && (at_most ? value <= bound : value >= bound)});
  }
};

}  // namespace

// A trace costs at most 5 % of the calls in a second.
std::vector<Claim> check_traced(const std::vector<Result>& results) {
  Claims claims;
  const Figure figure(results);
  for (const Result& plain : results) {
    const double traced = figure.of(plain.table, plain.column, plain.peer + kTraced);
    if (traced == 0) continue;
    const std::string text = plain.peer + kTraced + " / not, " + plain.table.substr(0, plain.table.find(',')) +
                             (plain.table.starts_with("round trip") ? plain.table.substr(plain.table.rfind(',')) : "") +
                             ", " + plain.column;
    if (plain.table == kPipelined) {
      claims.at_least(text, traced, plain.value, 0.95);
    } else if (plain.table != kPull) {
      claims.at_most(text, traced, plain.value, 1.05);
    }
  }
  return claims.all;
}

std::vector<Claim> check_claims(const std::vector<Result>& results) {
  const Figure figure(results);
  Claims claims;
  constexpr Pinning kPinnings[] = {Pinning::one_core, Pinning::two_cores, Pinning::unpinned};
  for (const Pinning pinning : kPinnings) {
    const auto micros = [&](const char* peer) { return figure.of(round_trip_table(pinning), "64 B", peer); };
    const std::string what = "1  64 B round trip, " + text(pinning) + ": lp shm / ";
    claims.at_most(what + "grpc unix", micros("lp shm"), micros("grpc unix"), 0.25);
    claims.at_most(what + "better of futex, unix socket", micros("lp shm"),
                   lower(micros("futex"), micros("unix socket")), 2.0);
  }
  const auto rate = [&](const char* peer, const char* callers) { return figure.best(kPipelined, callers, peer); };
  const double grpc = std::max(rate("grpc unix", "1 x"), rate("grpc tcp", "1 x"));
  claims.at_least("2  pipelined, one caller: lp shm / grpc's best", rate("lp shm", "1 x"), grpc, 20);
  claims.at_least("2  pipelined, one caller: lp shm / zeromq tcp", rate("lp shm", "1 x"), rate("zeromq tcp", "1 x"), 1);
  claims.at_least("2  pipelined, lp shm: 64 callers / one", rate("lp shm", "64 x"), rate("lp shm", "1 x"), 1);

  const auto bandwidth = [&](const char* column, const char* peer) { return figure.of(kPull, column, peer); };
  claims.at_least("3  64 MiB pull: lp shm / memcpy, warm", bandwidth(kIntoBuffer, "lp shm"),
                  bandwidth(kIntoBuffer, "memcpy, warm"), 0.8);

  claims.at_most("3  64 MiB read in place, us: lp shm", figure.of(kRead, kInPlace, "lp shm"), 1, 50);

  const auto direct = [&](const char* size, const char* peer) {
    return figure.of(round_trip_table(Pinning::unpinned), size, peer);
  };
  claims.nanoseconds_above("4  direct call above virtual call, 64 B, ns", direct("64 B", "lp direct"),
                           direct("64 B", "virtual call"), 100);
  claims.nanoseconds_above("4  direct call above virtual call, 1 MiB (no copy), ns", direct("1 MiB", "lp direct"),
                           direct("1 MiB", "virtual call"), 100);

  for (const char* peer : {"lp tcp", "lp curve"}) {
    for (const Pinning pinning : kPinnings) {
      const std::string table = round_trip_table(pinning);
      claims.at_most("5  64 B round trip, " + text(pinning) + ": " + peer + " / grpc tcp",
                     figure.of(table, "64 B", peer), figure.of(table, "64 B", "grpc tcp"), 1);
    }
  }
  claims.at_least("5  pipelined, one caller: lp tcp / grpc tcp", rate("lp tcp", "1 x"), rate("grpc tcp", "1 x"), 10);
  claims.at_least("5  pipelined, one caller: lp curve / grpc tcp", rate("lp curve", "1 x"), rate("grpc tcp", "1 x"), 1);
  for (const char* column : {kAsArray, kIntoBuffer}) {
    claims.at_least(std::string("5  64 MiB pull, ") + column + ": lp tcp / grpc tcp", bandwidth(column, "lp tcp"),
                    bandwidth(column, "grpc tcp"), 2);
  }
  return claims.all;
}

void print(const Report& report, std::FILE* out) {
  std::fprintf(out, "%d cores; load before %.1f, after %.1f; medians of the rounds\n", report.cores, report.load_before,
               report.load_after);
  for (const std::string& note : report.notes) std::fprintf(out, "%s\n", note.c_str());
  for (const std::string& table : distinct(report.results, &Result::table)) print_table(table, report.results, out);
  for (const Result& one : report.results) {
    if (one.error.empty()) continue;
    std::fprintf(out, "\n%s, %s, %s: %s\n", one.peer.c_str(), one.table.c_str(), one.column.c_str(), one.error.c_str());
  }
  std::fprintf(out, "\nwhat it should show\n");
  for (const Claim& claim : report.claims) {
    std::fprintf(out, "%-72s", claim.text.c_str());
    if (!claim.measured) {
      std::fprintf(out, " not measured (%s %s)\n", claim.at_most ? "at most" : "at least", number(claim.bound).c_str());
      continue;
    }
    std::fprintf(out, " %s (%s %s): %s\n", number(claim.value).c_str(), claim.at_most ? "at most" : "at least",
                 number(claim.bound).c_str(), claim.holds ? "holds" : "falls short");
  }
}

}  // namespace lp::bench

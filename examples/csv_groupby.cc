// Groups the rows of CSV files by one column, and gives the count, sum, least and greatest of another one:
// SELECT key, count(*), sum(value), min(value), max(value) FROM input GROUP BY key.
//
//   build/examples/csv_groupby --job.input='sales/*.csv' --job.into=totals --key=2 --value=5 --launch=processes

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "launchers/main.h"
#include "lp/lp.h"
#include "programs/mapreduce/map_reduce_flags.h"

struct Config {
  lp::MapReduceFlags job{};
  std::uint32_t key = 0;
  std::uint32_t value = 1;
  static constexpr auto fields = lp::fields(lp::field("key", "the column that makes the groups, from 0"),
                                            lp::field("value", "the column of numbers, from 0"));
};

struct Total {
  std::uint64_t count = 0;
  double sum = 0;
  double rest = 0;  // the loss of the sum by rounding
  double least = 0;
  double greatest = 0;
};

// Rows are grouped in several ways, by tasks and by the memory of a worker. So the sum keeps twice the digits of a
// double (Knuth's TwoSum), in which the order of additions hardly shows.
void add(Total& total, const Total& more) {
  const double sum = total.sum + more.sum;
  const double added = sum - total.sum;
  if (std::isfinite(sum)) total.rest += (total.sum - (sum - added)) + (more.sum - added);
  total.rest += more.rest;
  total.sum = sum;
}

struct GroupBy {
  void map(const lp::CsvRow& row, lp::Emit<std::string_view, Total>& emit) const {
    const double number = row.number(value) + 0.0;  // never -0, which is as small as 0: the order would decide
    if (!std::isfinite(number)) throw std::invalid_argument("the column has no finite number");
    emit(row[key], {.count = 1, .sum = number, .rest = 0, .least = number, .greatest = number});
  }
  static void combine(Total& total, const Total& more) {
    total.count += more.count;
    add(total, more);
    total.least = std::min(total.least, more.least);
    total.greatest = std::max(total.greatest, more.greatest);
  }
  static void reduce(std::string_view group, lp::Values<Total>& parts, lp::Output& out) {
    Total total;
    parts.next(total);
    for (const Total& one : parts) combine(total, one);
    out.line(group, '\t', total.count, '\t', total.sum + total.rest, '\t', total.least, '\t', total.greatest);
  }
  std::uint32_t key = 0;
  std::uint32_t value = 0;
};

lp::Program make_program(const Config& config) {
  lp::Program program("csv_groupby");
  lp::MapReduce options = lp::map_reduce_of(config.job, "job.");
  options.job.input.format = lp::InputFormat::csv;
  lp::add_map_reduce(program, GroupBy{.key = config.key, .value = config.value}, options);
  return program;
}

lp::MapReduceResult report(lp::Run& run, const Config&) {
  return run.client<lp::MapReduceMaster>("master").call<&lp::MapReduceMaster::result>();
}

int main(int argc, char** argv) { return lp::main<Config>(argc, argv, make_program, report); }

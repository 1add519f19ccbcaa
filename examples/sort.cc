// Sorts lines by their bytes, as `LC_ALL=C sort` does. The parts of the output, one after the other, are sorted.
//
//   build/examples/sort --input=lines.txt --into=sorted --launch=processes && cat sorted/part-*

#include <string_view>

#include "launchers/main.h"
#include "lp/lp.h"
#include "programs/mapreduce/map_reduce_flags.h"

struct Sort {
  static void map(std::string_view line, lp::Emit<std::string_view, lp::Nothing>& emit) { emit(line, {}); }
  static void reduce(std::string_view line, lp::Values<lp::Nothing>& times, lp::Output& out) {
    for ([[maybe_unused]] const lp::Nothing once : times) out.line(line);
  }
};

lp::Program make_program(const lp::MapReduceFlags& config) {
  lp::Program program("sort");
  lp::MapReduce options = lp::map_reduce_of(config);
  options.job.partitioning = lp::Partitioning::range;
  lp::add_map_reduce(program, Sort(), options);
  return program;
}

lp::MapReduceResult report(lp::Run& run, const lp::MapReduceFlags&) {
  return run.client<lp::MapReduceMaster>("master").call<&lp::MapReduceMaster::result>();
}

int main(int argc, char** argv) { return lp::main<lp::MapReduceFlags>(argc, argv, make_program, report); }

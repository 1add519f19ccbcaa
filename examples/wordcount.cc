// Counts the words of texts.
//
//   build/examples/wordcount --input='texts/*.txt' --into=counts --launch=processes
//   build/examples/wordcount --input=/usr/share/common-licenses --into=counts --workers=4

#include <cstdint>
#include <string_view>

#include "launchers/main.h"
#include "lp/lp.h"
#include "programs/mapreduce/map_reduce_flags.h"

struct WordCount {
  static void map(std::string_view line, lp::Emit<std::string_view, std::uint64_t>& emit) {
    for (const std::string_view word : lp::words(line)) emit(word, 1);
  }
  static void combine(std::uint64_t& sum, std::uint64_t one) { sum += one; }
};

lp::Program make_program(const lp::MapReduceFlags& config) {
  lp::Program program("wordcount");
  lp::add_map_reduce(program, WordCount(), lp::map_reduce_of(config));
  return program;
}

lp::MapReduceResult report(lp::Run& run, const lp::MapReduceFlags&) {
  return run.client<lp::MapReduceMaster>("master").call<&lp::MapReduceMaster::result>();
}

int main(int argc, char** argv) { return lp::main<lp::MapReduceFlags>(argc, argv, make_program, report); }

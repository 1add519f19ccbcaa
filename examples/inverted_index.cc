// Makes an index of texts: for each word, the files that have it, and how often.
//
//   build/examples/inverted_index --input=/usr/share/common-licenses --into=index --launch=processes

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "launchers/main.h"
#include "lp/lp.h"
#include "programs/mapreduce/map_reduce_flags.h"

struct InvertedIndex {
  static void map(std::string_view line, lp::Emit<std::string_view, std::string_view>& emit) {
    for (const std::string_view word : lp::words(line)) emit(word, emit.path());
  }
  static void reduce(std::string_view word, lp::Values<std::string_view>& files, lp::Output& out) {
    std::string last;
    std::uint64_t times = 0;
    for (const std::string_view file : files) {  // in the order of the input
      if (times > 0 && file != last) out.line(word, '\t', last, '\t', std::exchange(times, 0));
      last = file;
      ++times;
    }
    out.line(word, '\t', last, '\t', times);
  }
};

lp::Program make_program(const lp::MapReduceFlags& config) {
  lp::Program program("inverted_index");
  lp::add_map_reduce(program, InvertedIndex(), lp::map_reduce_of(config));
  return program;
}

lp::MapReduceResult report(lp::Run& run, const lp::MapReduceFlags&) {
  return run.client<lp::MapReduceMaster>("master").call<&lp::MapReduceMaster::result>();
}

int main(int argc, char** argv) { return lp::main<lp::MapReduceFlags>(argc, argv, make_program, report); }

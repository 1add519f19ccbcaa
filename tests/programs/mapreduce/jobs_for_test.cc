#include "tests/programs/mapreduce/jobs_for_test.h"

#include <fcntl.h>
#include <signal.h>

#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "lp/base/descriptor.h"
#include "programs/mapreduce/map_reduce.h"

namespace lp::test {
namespace {

struct EndsItsProcess {
  void map(std::string_view line, Emit<std::string_view, std::uint64_t>& emit) const {
    if (line == "bad") be_bad();
    for (const std::string_view word : words(line)) emit(word, 1);
  }
  static void combine(std::uint64_t& sum, std::uint64_t one) { sum += one; }
  void reduce(std::string_view word, Values<std::uint64_t>& counts, Output& out) const {
    if (config.mode == "reduce aborts" && word == "bad") std::abort();
    if (config.mode == "reduce throws" && word == "bad") throw std::invalid_argument("no such word");
    std::uint64_t sum = 0;
    for (const std::uint64_t one : counts) sum += one;
    out.line(word, '\t', sum);
  }
  void be_bad() const {
    if (config.mode == "segfaults") raise(SIGSEGV);
    if (config.mode == "aborts") std::abort();
    if (config.mode == "exits") std::_Exit(0);
    if (config.mode == "exits in order") std::exit(0);
    if (config.mode == "throws") throw std::invalid_argument("no such line");
    if (config.mode != "stops once") return;
    const std::string mark = config.folder + "/stopped";
    if (Descriptor(::open(mark.c_str(), O_CREAT | O_EXCL | O_CLOEXEC, 0600))) raise(SIGSTOP);
  }
  JobConfig config{};
};

}  // namespace

Program make_job(const JobConfig& config) {
  Program program("job");
  MapReduce options;
  options.job.input.paths = {config.folder + "/input"};
  options.job.input.split_bytes = 1;
  options.job.output = config.folder + "/output";
  options.job.skip_records = config.skip_records;
  options.restarts = config.restarts;
  add_map_reduce(program, EndsItsProcess{config}, options);
  return program;
}

const Programs& programs() {
  static const Programs all = Programs().add<JobConfig>("job", make_job);
  return all;
}

}  // namespace lp::test

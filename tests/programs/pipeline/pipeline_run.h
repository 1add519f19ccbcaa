#pragma once
// A pipeline that runs in this process, over files in a directory of its own. For tests; one thread.

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "launchers/run.h"
#include "programs/pipeline/pipeline.h"
#include "tests/directory.h"
#include "tests/job_files.h"
#include "tests/lp/program/local_run.h"

namespace lp::test {

class PipelineFiles : public JobFiles {
 public:
  // The lines of all visible parts, sorted.
  std::multiset<std::string> lines(const std::string& into = "output") const {
    std::multiset<std::string> out;
    for (const auto& one : std::filesystem::directory_iterator(path() / into)) {
      if (!one.path().filename().string().starts_with("part-")) continue;
      std::ifstream file(one.path());
      for (std::string line; std::getline(file, line);) out.insert(line);
    }
    return out;
  }
};

// The number itself, as a record or a key. Each lambda has a type, and with it operators of its own to compile.
struct Identity {
  std::uint64_t operator()(std::uint64_t number) const { return number; }
};

// Writes a flow of texts as lines.
template <class Text>
void write_lines(const Flow<Text>& flow, const std::filesystem::path& into) {
  flow.write(into, [](const Text& line, Output& out) { out.line(line); });
}

// Runs it to its end. Returns the failure, if any.
inline std::string run_pipeline(const Pipeline& pipeline, const PipelineOptions& options, LaunchOptions launch = {}) {
  Program program("test");
  add_pipeline(program, pipeline, options);
  Run run(std::move(program), std::move(launch));  // a stage may fail before all serve
  const RunResult& result = run.wait();
  return result.success ? "" : result.cause.text();
}

// Runs it to its end, which is to be good.
inline PipelineResult result_of(const Pipeline& pipeline, PipelineOptions options) {
  const Directory scratch;  // such a run has no name of its own
  if (options.scratch.empty()) options.scratch = scratch.path();
  Program program("test");
  const auto master = add_pipeline(program, pipeline, options);
  LocalRun run(program, Runtime::Options());
  run.wait_finished();
  for (const auto& [node, error] : run.failed()) ADD_FAILURE() << node << ": " << error.what();
  return run.client(master).call<&PipelineMaster::result>();
}

}  // namespace lp::test

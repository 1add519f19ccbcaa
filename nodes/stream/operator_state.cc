#include "nodes/stream/operator_state.h"

#include <filesystem>

namespace lp::dataflow {

MissingFile::MissingFile(const std::string& path)
    : FileError(fact(path) + ": the stages make it again after a restart, if PipelineOptions::restarts " +
                "allows one; or let PipelineOptions::scratch name a folder that outlives the hosts"),
      path_(path) {}

std::string MissingFile::fact(const std::string& path) {
  return path + ", which has records of this pipeline, is gone";
}

void need_file(const std::string& path) {
  if (!std::filesystem::exists(path)) throw MissingFile(path);
}

}  // namespace lp::dataflow

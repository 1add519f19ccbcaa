#include "nodes/stream/state.h"

#include <filesystem>

namespace lp::dataflow {

MissingFile::MissingFile(const std::string& path)
    : Error(ErrorKind::failed, path + ", which has records of this pipeline, is gone: let PipelineOptions::scratch " +
                                   "name a folder that outlives the hosts, and begin the run again") {}

void need_file(const std::string& path) {
  if (!std::filesystem::exists(path)) throw MissingFile(path);
}

}  // namespace lp::dataflow

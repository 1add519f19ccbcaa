#pragma once
// The lines of files that grow, and of directories that fill, as the first operator of a stage. A replica reads the
// files whose paths belong to it. Owned by a stage; one thread.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lp/base/scheduler.h"
#include "nodes/stream/operator.h"
#include "nodes/stream/stage_plan.h"

namespace lp {

struct FollowOptions {
  // Files, directories and globs, as in InputOptions; they need not be there yet. A file only grows.
  std::vector<std::string> paths{};
  // The flow ends when this file is there and all lines are read; empty: never.
  std::filesystem::path until{};
  Duration look_every = std::chrono::milliseconds(20);  // for new files and lines
};

namespace dataflow {

class FollowSource final : public Operator, public StageSource, public Producer<std::string_view> {
 public:
  FollowSource(const StageSite& site, FollowOptions options) : site_(site), options_(std::move(options)) {}

  Step step() override;
  void mark(const Mark& mark) override { emit_mark(mark); }
  void save(OperatorState& out) const override;
  void load(const StatePiece& piece) override;

 private:
  void look();
  bool read(const std::string& path, std::uint64_t& offset);

  const StageSite& site_;
  const FollowOptions options_;
  std::map<std::string, std::uint64_t> offsets_{};  // places of the first lines that were not read, by path
  std::string last_{};                              // the file that was read last
  std::size_t nothing_ = 0;                         // files that had nothing new, one after the other
  Time next_look_{};
  bool ending_ = false;  // nothing more will come
  std::vector<char> block_{};
  std::vector<std::string_view> batch_{};
};

}  // namespace dataflow
}  // namespace lp

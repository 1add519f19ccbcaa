#pragma once
// The parts of a stage: how each replica makes its operators, and where its records come from and go to. Values,
// which are made while the graph is built; every replica makes its own operators.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lp/program/context.h"
#include "nodes/stream/bad_records.h"
#include "nodes/stream/frame_output.h"
#include "nodes/stream/operator.h"
#include "nodes/stream/pipeline_options.h"
#include "nodes/stream/splits.h"

namespace lp::dataflow {

// Makes the directory for sorted runs, and returns it. Runs of ScratchLife::run can be made again from the beginning.
std::filesystem::path scratch_of(const PipelineOptions& options, const Context& node,
                                 ScratchLife life = ScratchLife::run);

// Where an operator runs. It lives as long as the operator.
struct StageSite {
  Context& node;
  const PipelineOptions& options;
  std::string stage{};
  std::uint32_t replica = 0;
  std::uint32_t replicas = 1;
  std::vector<std::unique_ptr<FrameOutput>> outputs{};
  std::size_t op = 0;            // number of the operator that is being made
  std::function<void()> wake{};  // lets the stage's source take a step; any thread may call it
  BadRecords bad{};
  Splits splits{};  // those of the stage's source
  StageCounts counts{};

  bool owns(std::uint32_t group) const { return replica_of_group(group, replicas) == replica; }
  // A file for a sorted run, whose name nothing else has.
  std::string new_file(ScratchLife life = ScratchLife::run);
  // Whether this replica, in this run, has made the file, of ScratchLife::cuts; perhaps in an earlier incarnation.
  bool made(const std::string& file) const;
  // The file under a name that this replica has made, of ScratchLife::cuts. So the run that made the file may be
  // removed.
  std::string take_over(const std::string& file);
  std::uint64_t files = 0;
};

struct OperatorPlan {
  std::function<std::unique_ptr<Operator>(StageSite& site)> make{};
  std::size_t parent = 0;  // operator before this one; none for the first
  std::function<void(Operator& parent, Operator& self)> connect{};
};

struct StagePlan {
  std::string name{};
  std::uint32_t replicas = 1;
  std::vector<OperatorPlan> operators{};
  std::vector<std::uint32_t> senders{};  // for each input; none: the stage is a source
  struct Output {
    std::size_t stage = 0;
    std::uint32_t input = 0;  // its number at that stage
    std::string name{};       // its name
  };
  std::vector<Output> outputs{};
};

}  // namespace lp::dataflow

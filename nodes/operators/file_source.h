#pragma once
// The records of files, as the first operator of a stage: a replica reads every n-th split of them. Owned by a stage;
// one thread.

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nodes/dataflow/input_files.h"
#include "nodes/dataflow/record_reader.h"
#include "nodes/stream/operator.h"
#include "nodes/stream/stage_plan.h"

namespace lp::dataflow {

class FileSource final : public Operator, public StageSource, public Producer<std::string_view> {
 public:
  FileSource(const StageSite& site, InputOptions input);

  Step step() override;
  void mark(const Mark& mark) override { emit_mark(mark); }
  void save(OperatorState& out) const override;
  void load(const StatePiece& piece) override;
  void again() override;
  std::string place() const override;
  FilePlace file_place() const noexcept override;
  bool repeats() const override { return true; }

 private:
  void split();
  bool open_next();
  bool read();

  const BadRecords& bad_;
  const InputOptions input_;
  const std::uint32_t replica_;
  const std::uint32_t replicas_;
  bool known_ = false;               // which splits are to be read
  std::deque<InputSplit> splits_{};  // that are not read yet
  std::optional<RecordReader> reader_{};
  std::vector<std::string_view> batch_{};
  std::size_t handed_ = 0;  // number of the record in the batch that was handed on last, alone
};

}  // namespace lp::dataflow

#pragma once
// The records of files, as the first operator of a stage: a replica reads every n-th part of them, those of a file in
// their order. When events have times, it reads on in the file whose watermark is the least one. So windows end as they
// would if the files were one, and few are open.
//
// Owned by a stage; one thread.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nodes/dataflow/input_files.h"
#include "nodes/dataflow/record_reader.h"
#include "nodes/stream/operator.h"
#include "nodes/stream/stage_plan.h"

namespace lp::dataflow {

class FileSource final : public Operator, public StageSource, public Producer<std::string_view> {
 public:
  FileSource(StageSite& site, InputOptions input);

  Step step() override;
  void mark(const Mark& mark) override { emit_mark(mark); }
  void save(OperatorState& out) const override;
  void load(const StatePiece& piece) override;
  void again() override;
  std::string location() const override;
  FilePosition file_position() const noexcept override;
  bool repeats() const override { return true; }

 private:
  static constexpr std::size_t kOpenFiles = 16;
  static constexpr std::size_t kFirstBatch = 2;  // two events show where a file begins

  struct File {
    std::deque<InputSplit> parts{};  // that are not read yet, but the one that the reader reads
    std::optional<RecordReader> reader{};
    Split* split = nullptr;
    std::size_t batch = kFirstBatch;  // so many lines are read before its time is known
  };

  void split();
  void add(InputSplit part);
  bool open(File& file);
  void close_one();
  void close_reader(File& file);
  void close(const std::string& path);
  bool read(File& file);
  std::size_t lines_of(File& file) const;

  StageSite& site_;
  const InputOptions input_;
  bool known_ = false;                                   // which parts are to be read
  std::map<std::string, File> files_{};                  // that are not read to their end
  std::set<std::pair<EventTime, std::string>> turns_{};  // the files, by their watermarks
  std::vector<File*> open_{};                            // those with a reader
  File* file_ = nullptr;                                 // that was read last
  std::vector<std::string_view> batch_{};
  std::size_t handed_ = 0;  // number of the record in the batch that was handed on last, alone
};

}  // namespace lp::dataflow

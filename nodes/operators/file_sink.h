#pragma once
// Writes records as lines of files. The lines between two cuts make a part, and a part becomes visible, by one rename,
// when the cut behind it is complete. So the visible parts have the effect of every record once, whatever was killed:
//
//   INTO/part-STAGE-OPERATOR-REPLICA-CUT-INCARNATION              visible
//   INTO/.pending/part-STAGE-OPERATOR-REPLICA-CUT-INCARNATION     not yet
//
// An incarnation on a host that was cut off touches no part of the one after it. At the end .pending goes. After a run
// that was stopped it stays, if there is a cut from which another run can go on, until that run's end or `lp rm`.
//
// Owned by a stage; one thread. Error::failed names the file and the system's reason.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "nodes/dataflow/file_writer.h"
#include "nodes/dataflow/output.h"
#include "nodes/stream/operator.h"
#include "nodes/stream/stage_plan.h"

namespace lp::dataflow {

class PartFiles {
 public:
  PartFiles(const StageSite& site, std::filesystem::path into);

  FileWriter& file() {
    if (!file_) [[unlikely]] {
      open();
    }
    return *file_;
  }
  // Error::failed when the directory has parts behind this cut: they are of another run.
  void start(std::uint64_t cut) const;
  // Ends the part. It belongs to this cut.
  void cut(std::uint64_t number);
  // Makes the parts of this cut and of older ones visible.
  void commit(std::uint64_t number);
  // Removes the directory of parts that are not visible. Killed incarnations have left these parts.
  void finish();
  void save(OperatorState& out) const;
  void load(const StatePiece& piece);

 private:
  void open();
  void prepare();
  void take_over();
  std::filesystem::path pending() const { return into_ / ".pending"; }

  Context& node_;
  const std::filesystem::path into_;
  const std::string own_;  // in the names of this replica's parts
  const bool durable_;
  bool prepared_ = false;                     // earlier incarnations have nothing open any more
  bool owns_ = false;                         // .pending goes with this run's cuts
  std::optional<std::uint64_t> first_cut_{};  // the first cut that this incarnation took part in
  std::optional<FileWriter> file_{};
  std::map<std::string, std::uint64_t> parts_{};  // names of parts that are not visible, and their cuts
};

// f(record, output) writes a record.
template <class T, class F>
class FileSink final : public Operator, public Consumer<T> {
 public:
  FileSink(StageSite& site, std::filesystem::path into, F f)
      : bad_(site.bad), counts_(site.counts), parts_(site, std::move(into)), f_(std::move(f)) {}
  void take(std::span<const T> records) override {
    counts_.results += records.size();
    FileWriter& file = parts_.file();
    Output out(file);
    for (const T& one : records) {
      const std::uint64_t before = file.size();
      try {
        f_(one, out);
      } catch (...) {
        if (file.failed()) throw;  // not about the record
        bad_.skip();
        file.cut_back(before);
      }
    }
  }
  void mark(const Mark&) override {}
  void start(std::uint64_t cut) override { parts_.start(cut); }
  void cut(std::uint64_t number) override { parts_.cut(number); }
  void commit(std::uint64_t number) override { parts_.commit(number); }
  void finish() override { parts_.finish(); }
  void save(OperatorState& out) const override { parts_.save(out); }
  void load(const StatePiece& piece) override { parts_.load(piece); }

 private:
  const BadRecords& bad_;
  StageCounts& counts_;
  PartFiles parts_;
  F f_;
};

}  // namespace lp::dataflow

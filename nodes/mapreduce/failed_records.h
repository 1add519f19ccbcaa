#pragma once
// The records, and keys, on which a task fails, and those that it leaves out for that reason. Owned by a task; one
// thread.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "nodes/dataflow/input_files.h"
#include "nodes/mapreduce/work_messages.h"

namespace lp::dataflow {

// A task fails on some records, which can be skipped. The text is about the last one.
class BadRecordError : public Error {
 public:
  BadRecordError(std::vector<BadRecord> bad, bool repeats, const std::string& text)
      : Error(ErrorKind::failed, text), bad_(std::move(bad)), repeats_(repeats) {}
  const std::vector<BadRecord>& bad() const { return bad_; }
  bool repeats() const { return repeats_; }  // another attempt would fail, too

 private:
  std::vector<BadRecord> bad_;
  bool repeats_;
};

// Where records may be skipped, an attempt goes on behind the first bad one, and looks for the others: so the next
// attempt can leave out all of them. Its own result does not count.
class FailedRecords {
 public:
  static constexpr std::uint64_t kMostAtOnce = 100'000;  // a report of so many has some 10 MB

  // One more than `most` ends the attempt at once.
  explicit FailedRecords(std::uint64_t most) : most_(most < kMostAtOnce ? most : kMostAtOnce) {}

  // Note the record or the key, in a handler of its exception. They throw the exception again when it is about no
  // record: the node stops, or a file or a run cannot be read. They throw BadRecordError when the attempt ends. Where
  // no record may be skipped, they call `again` to see whether the same fails again.
  void add_record(const std::string& path, std::uint64_t offset, std::string_view record,
                  const std::function<void()>& again);
  void add_key(std::string_view key, const std::function<void()>& again);
  // At the end of the attempt: throws BadRecordError when there was a bad record.
  void end();

 private:
  void add(BadRecord bad, const std::string& what, const std::function<void()>& again);

  const std::uint64_t most_;
  std::vector<BadRecord> bad_{};
  std::string failure_{};
};

// Those of one file, or of a key, in a sorted list.
std::span<const BadRecord> bad_in(const std::vector<BadRecord>& sorted, std::string_view place);
// Whether the record is among those of its file.
bool has_record(std::span<const BadRecord> of_file, std::uint64_t offset);

// Those of a sorted list that lie in the inputs of a task, sorted.
std::vector<BadRecord> bad_in(const std::vector<BadRecord>& sorted, const InputTask& task);
// Adds records to a sorted list, of which some may be there.
void add_sorted(std::vector<BadRecord>& sorted, const std::vector<BadRecord>& more);

}  // namespace lp::dataflow

#pragma once
// Reads the records of a split, one after the other, as views into its block: nothing is copied except a record that
// two blocks share. Owned by a task; one thread.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lp/base/error.h"
#include "nodes/dataflow/csv_row.h"
#include "nodes/dataflow/input_files.h"
#include "nodes/dataflow/input_source.h"
#include "nodes/dataflow/memory_block.h"

namespace lp::dataflow {

inline constexpr std::size_t kPrefixBytes = 4;  // size of the length before a record

// A record cannot be read. The next call reads the record after it, if the file is still the one that was split.
class RecordError : public Error {
 public:
  explicit RecordError(const std::string& text) : Error(ErrorKind::failed, text) {}
};

// A field of CSV in quotes goes on to the end of its file, so nobody knows the rows there, however often it is read.
class UnclosedQuoteError : public Error {
 public:
  explicit UnclosedQuoteError(const std::string& text) : Error(ErrorKind::failed, text) {}
};

class RecordReader {
 public:
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 18;  // fits a core's cache

  // Error::failed when the file cannot be opened, or is shorter than it was when it was split.
  RecordReader(InputSplit split, const InputOptions& options, const OpenInput& open = open_here);

  // Reads the next record into `record`, which is valid until the next call: a line without its end, a row of CSV
  // without its line end, or the bytes after a length. Returns false when there is none. RecordError for a record
  // that is longer than InputOptions::longest_record, or is cut off; UnclosedQuoteError; Error::failed when the file
  // ends too early, or cannot be read.
  bool next(std::string_view& record) {
    if (format_ == InputFormat::lines) [[likely]] {
      return next_line(record);
    }
    return next_other(record);
  }
  // Reads at most `most` lines, at least one, which are valid until the next call. For InputFormat::lines. Returns
  // false when there is none.
  bool next_lines(std::vector<std::string_view>& lines, std::size_t most);
  std::uint64_t offset() const { return offset_; }                // place of the last record in the file
  std::uint64_t next_offset() const { return read_ - filled(); }  // place of the first record that was not read
  const InputSplit& split() const { return split_; }
  bool skipping() const { return skipping_; }  // a record that was too long
  bool is_remote() const { return file_->is_remote(); }

 private:
  bool next_line(std::string_view& record);
  bool next_other(std::string_view& record);
  bool next_row(std::string_view& record);
  bool next_prefixed(std::string_view& record);
  void take(std::size_t size, std::size_t ending, std::string_view& record);
  bool fill();
  void grow();
  void check_length(std::size_t size);
  [[noreturn]] void fail_as_too_long() const;
  void take_ended(std::size_t size, std::string_view& record);
  std::string advice() const;
  [[noreturn]] void fail_cut_off();
  void check_quotes() const;
  bool skip_long_record();
  std::size_t filled() const { return end_ - at_; }

  const InputSplit split_;
  const InputFormat format_;
  const std::uint64_t longest_;
  const std::string longest_name_;
  const std::unique_ptr<InputSource> file_;
  std::vector<char> small_;
  std::optional<MemoryBlock> large_{};  // for records that are longer than the small block
  std::span<char> block_;               // the part of them that is in use
  std::size_t at_ = 0;                  // begin of the next record in the block
  std::size_t end_ = 0;                 // end of the bytes in the block
  std::uint64_t read_;                  // the offset in the file of the next bytes to read
  std::uint64_t offset_ = 0;            // place of the last record
  CsvScanner rows_;                     // csv: has seen the bytes up to where the search for the end of a row is
  bool skipping_ = false;               // a record that was too long
};

}  // namespace lp::dataflow

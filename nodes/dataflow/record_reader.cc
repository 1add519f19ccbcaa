#include "nodes/dataflow/record_reader.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "lp/base/error.h"

namespace lp::dataflow {

RecordReader::RecordReader(InputSplit split, const InputOptions& options, const OpenInput& open)
    : split_(std::move(split)),
      format_(options.format),
      longest_(options.longest_record),
      longest_name_(options.longest_record_name),
      file_(open(split_.path)),
      small_(kBlockBytes),
      block_(small_),
      read_(split_.begin),
      rows_(options.separator, split_.begin) {
  if (const std::uint64_t size = file_->size(); size < split_.end) {
    throw Error(ErrorKind::failed, split_.path + " has " + std::to_string(size) + " bytes, and had " +
                                       std::to_string(split_.file_size) + " when it was split: do not change inputs");
  }
  const FileIdentity was = split_.file, is = file_->identity();
  const bool written = is.written != was.written && file_->size() == split_.file_size;  // it may grow
  if (was.host != 0 && is.host == was.host && (is.inode != was.inode || written)) {
    throw Error(ErrorKind::failed, split_.path + " was " + (is.inode != was.inode ? "replaced" : "written") +
                                       " after it was split: do not change inputs");
  }
  std::string_view names;
  if (format_ == InputFormat::csv && options.header && split_.begin == 0) next_row(names);
}

// Makes the block twice as large. The large one is made once, for the longest record, and takes memory only as it is
// used. So a long record takes its own size of memory, and no copy of it is made.
void RecordReader::grow() {
  if (!large_) {
    large_.emplace(std::min(longest_, split_.end - split_.begin) + kPrefixBytes + kBlockBytes);
    std::memcpy(large_->data(), block_.data(), end_);
  }
  block_ = {large_->data(), std::min(2 * block_.size(), large_->size())};
}

// Reads more bytes behind those that are not taken. Returns false when the split has no more.
bool RecordReader::fill() {
  if (read_ == split_.end) return false;
  if (at_ > 0) {
    std::memmove(block_.data(), block_.data() + at_, filled());
    end_ -= at_;
    at_ = 0;
  }
  if (end_ == block_.size()) grow();
  const std::size_t wanted = std::min<std::uint64_t>(block_.size() - end_, split_.end - read_);
  const std::size_t read = file_->read_at(read_, block_.subspan(end_, wanted));
  if (read < wanted) {
    throw Error(ErrorKind::failed, split_.path + " ended at byte " + std::to_string(read_ + read) + ", and had " +
                                       std::to_string(split_.file_size) + " bytes when it was split");
  }
  end_ += read;
  read_ += read;
  return true;
}

// The block begins with a record of at least this size.
void RecordReader::check_length(std::size_t size) {
  if (size <= longest_) return;
  skipping_ = true;
  offset_ = read_ - filled();
  fail_as_too_long();
}

void RecordReader::fail_as_too_long() const {
  throw RecordError("it is longer than " + std::to_string(longest_) + " bytes" + advice());
}

std::string RecordReader::advice() const {
  const std::optional<std::uint64_t> quote = rows_.open_since();
  return (quote ? ", in which the quote at byte " + std::to_string(*quote) + " is not closed" : "") + ": raise " +
         longest_name_ + ", or let such records be skipped";
}

void RecordReader::take(std::size_t size, std::size_t ending, std::string_view& record) {
  offset_ = read_ - filled();
  record = {block_.data() + at_, size};
  at_ += size + ending;
}

// The record is in the block, so that there is nothing to skip if it is too long.
void RecordReader::take_ended(std::size_t size, std::string_view& record) {
  take(size, 1, record);
  if (size > longest_) fail_as_too_long();
}

bool RecordReader::next_line(std::string_view& record) {
  if (skipping_ && !skip_long_record()) return false;
  for (std::size_t seen = 0;;) {
    const char* const from = block_.data() + at_;
    const void* const found = filled() == seen ? nullptr : std::memchr(from + seen, '\n', filled() - seen);
    if (found != nullptr) {
      const auto size = static_cast<std::size_t>(static_cast<const char*>(found) - from);
      take_ended(size, record);
      return true;
    }
    seen = filled();
    check_length(seen);
    if (fill()) continue;
    if (seen == 0) return false;
    take(seen, 0, record);
    return true;
  }
}

bool RecordReader::next_lines(std::vector<std::string_view>& lines, std::size_t most) {
  lines.clear();
  std::string_view line;
  if (!next_line(line)) return false;
  lines.push_back(line);
  while (lines.size() < most && at_ < end_) {
    const char* const from = block_.data() + at_;
    const void* const found = std::memchr(from, '\n', filled());
    if (found == nullptr) break;
    const auto size = static_cast<std::size_t>(static_cast<const char*>(found) - from);
    if (size > longest_) break;
    take(size, 1, line);
    lines.push_back(line);
  }
  return true;
}

// The block begins with a record that is too long: reads to its end, without keeping it.
bool RecordReader::skip_long_record() {
  skipping_ = false;
  for (at_ = end_; fill(); at_ = end_) {
    const std::string_view bytes(block_.data(), end_);
    const std::size_t end =
        format_ == InputFormat::csv ? rows_.row_end(bytes, 0) : std::min(bytes.find('\n'), bytes.size());
    if (end == bytes.size()) continue;
    at_ = end + 1;
    return true;
  }
  check_quotes();
  return false;
}

// A split ends where a row does, or at the end of its file. Nobody knows which rows such a field has swallowed, so it
// is no record to skip.
void RecordReader::check_quotes() const {
  const std::optional<std::uint64_t> begin = rows_.open_since();
  if (!begin) return;
  throw UnclosedQuoteError(split_.path + ": the quote at byte " + std::to_string(*begin) +
                           " begins a field that has no closing quote up to the end of the file");
}

bool RecordReader::next_other(std::string_view& record) {
  return format_ == InputFormat::csv ? next_row(record) : next_prefixed(record);
}

bool RecordReader::next_row(std::string_view& record) {
  if (skipping_ && !skip_long_record()) return false;
  for (std::size_t seen = 0;;) {
    const std::size_t end = rows_.row_end({block_.data() + at_, filled()}, seen);
    if (end < filled()) {
      take_ended(end, record);
      break;
    }
    seen = filled();
    check_length(seen);
    if (fill()) continue;
    check_quotes();
    if (seen == 0) return false;
    take(seen, 0, record);
    break;
  }
  if (record.ends_with('\r')) record.remove_suffix(1);
  return true;
}

// The file was changed since it was split: where its next record begins is unknown.
void RecordReader::fail_cut_off() {
  offset_ = read_ - filled();
  read_ = split_.end;
  at_ = end_;
  throw RecordError("it is longer than the rest of its file's part: do not change inputs");
}

bool RecordReader::next_prefixed(std::string_view& record) {
  while (filled() < kPrefixBytes) {
    if (fill()) continue;
    if (filled() > 0) fail_cut_off();
    return false;
  }
  std::uint32_t size = 0;
  std::memcpy(&size, block_.data() + at_, sizeof(size));
  if (size > filled() - kPrefixBytes + (split_.end - read_)) fail_cut_off();
  if (size > longest_) {
    offset_ = read_ - filled();
    const std::size_t here = std::min<std::size_t>(filled(), kPrefixBytes + size);
    at_ += here;
    read_ += kPrefixBytes + size - here;  // the rest is not read
    throw RecordError("it has " + std::to_string(size) + " bytes, more than " + std::to_string(longest_) + advice());
  }
  while (filled() < kPrefixBytes + size) fill();
  take(kPrefixBytes + size, 0, record);
  record.remove_prefix(kPrefixBytes);
  return true;
}

}  // namespace lp::dataflow

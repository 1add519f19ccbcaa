#include "nodes/dataflow/sorted_run.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "lp/base/descriptor.h"
#include "lp/base/error.h"
#include "nodes/dataflow/file_error.h"
#include "nodes/dataflow/file_window.h"

namespace lp::dataflow {
namespace {

constexpr std::size_t kMostHead = 20;  // bytes of two sizes

char* put_size(char* at, std::uint64_t size) {
  for (; size >= 0x80; size >>= 7) *at++ = static_cast<char>(size | 0x80);
  *at++ = static_cast<char>(size);
  return at;
}

// Returns null when the size goes on behind `end`.
const char* get_size(const char* at, const char* end, std::uint64_t& size) {
  size = 0;
  for (int shift = 0; at != end && shift < 64; shift += 7) {
    const auto byte = static_cast<unsigned char>(*at++);
    size |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return at;
  }
  return nullptr;
}

class FileSegment final : public SegmentSource {
 public:
  FileSegment(const std::string& path, const Segment& segment)
      : path_(path), segment_(segment), file_(open_to_read(path)) {}
  std::size_t read(std::uint64_t offset, std::span<char> into) override {
    const std::size_t wanted = std::min<std::uint64_t>(into.size(), segment_.bytes - offset);
    const std::size_t read = read_at(file_, path_, segment_.offset + offset, into.first(wanted));
    if (read == 0) throw FileError(path_ + " is shorter than it was written");
    return read;
  }

 private:
  const std::string path_;
  const Segment segment_;
  const Descriptor file_;
};

}  // namespace

RunWriter::RunWriter(std::string path, std::uint32_t partitions) : file_(std::move(path)) {
  run_.path = file_.path();
  run_.segments.resize(partitions);
}

void RunWriter::begin_partition(std::uint32_t partition) {
  while (partition_ < partition) {
    Segment& last = run_.segments[partition_];
    last.bytes = file_.size() - last.offset;
    if (++partition_ < run_.segments.size()) run_.segments[partition_].offset = file_.size();
  }
}

void RunWriter::add(std::uint32_t partition, const Pair& pair) {
  if (partition != partition_) {
    if (partition >= run_.segments.size()) run_.segments.resize(partition + 1);
    begin_partition(partition);
  }
  char head[kMostHead];
  const char* const end = put_size(put_size(head, pair.key.size()), pair.value.size());
  file_.write({head, static_cast<std::size_t>(end - head)});
  file_.write(pair.key);
  file_.write(pair.value);
  ++run_.segments[partition].pairs;
}

SortedRun RunWriter::finish() {
  begin_partition(static_cast<std::uint32_t>(run_.segments.size()));
  file_.close(false);
  return std::move(run_);
}

std::unique_ptr<SegmentSource> file_segment(const std::string& path, const Segment& segment) {
  return std::make_unique<FileSegment>(path, segment);
}

RunReader::RunReader(std::unique_ptr<SegmentSource> source, std::uint64_t bytes, std::size_t block_bytes)
    : source_(std::move(source)),
      bytes_(bytes),
      block_(std::max<std::size_t>(std::min<std::uint64_t>(bytes, block_bytes), kMostHead)) {}

bool RunReader::fill() {
  if (read_ == bytes_) return false;
  if (at_ > 0) {
    std::memmove(block_.data(), block_.data() + at_, end_ - at_);
    end_ -= std::exchange(at_, 0);
  }
  if (end_ == block_.size()) block_.resize(2 * block_.size());
  const std::size_t wanted = std::min<std::uint64_t>(block_.size() - end_, bytes_ - read_);
  const std::size_t read = source_->read(read_, std::span(block_).subspan(end_, wanted));
  end_ += read;
  read_ += read;
  return true;
}

bool RunReader::next(Pair& pair) {
  for (;;) {
    const char* const end = block_.data() + end_;
    std::uint64_t key = 0, value = 0;
    const char* at = get_size(block_.data() + at_, end, key);
    if (at != nullptr) at = get_size(at, end, value);
    if (at != nullptr && key <= static_cast<std::uint64_t>(end - at) &&
        value <= static_cast<std::uint64_t>(end - at) - key) {
      pair = {{at, key}, {at + key, value}};
      at_ = static_cast<std::size_t>(at + key + value - block_.data());
      return true;
    }
    if (!fill()) {
      if (at_ == end_) return false;
      throw Error(ErrorKind::failed, "a run of sorted pairs ends in the middle of a pair");
    }
  }
}

}  // namespace lp::dataflow

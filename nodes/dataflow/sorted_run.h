#pragma once
// Runs: files of sorted pairs, which a shuffle moves from mappers to reducers. A run has a segment for each partition.
// A pair is stored as the size of its key and the size of its value, in seven-bit groups, then both.
//
// A RunWriter and a RunReader are owned by a task; one thread. Error::failed names the file and the system's reason.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nodes/dataflow/file_writer.h"
#include "nodes/dataflow/key_codec.h"

namespace lp::dataflow {

// Where the pairs of a partition are in a run.
struct Segment {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t pairs = 0;
};

struct SortedRun {
  std::string path{};
  std::vector<Segment> segments{};  // by partition
};

class RunWriter {
 public:
  // Makes the file. A writer that is destroyed before finish() removes it. The run has so many partitions, and more
  // when pairs are added to them.
  RunWriter(std::string path, std::uint32_t partitions);

  // Adds a pair. Partitions do not decrease.
  void add(std::uint32_t partition, const Pair& pair);
  SortedRun finish();

 private:
  void begin_partition(std::uint32_t partition);

  FileWriter file_;
  SortedRun run_;
  std::uint32_t partition_ = 0;
};

// Bytes of a segment: a file on this host, or the node that has it.
class SegmentSource {
 public:
  virtual ~SegmentSource() = default;
  // Reads at most `into.size()` bytes from `offset` in the segment on, at least one. Error::failed when it cannot.
  virtual std::size_t read(std::uint64_t offset, std::span<char> into) = 0;
};

// A segment in a file that this node can open.
std::unique_ptr<SegmentSource> file_segment(const std::string& path, const Segment& segment);

// Reads the pairs of a segment in order, through one block.
class RunReader {
 public:
  // A block of so many bytes, more for a pair that is larger.
  RunReader(std::unique_ptr<SegmentSource> source, std::uint64_t bytes, std::size_t block_bytes);

  // Reads the next pair, which is valid until the next call. Returns false when there is none.
  bool next(Pair& pair);

 private:
  bool fill();

  std::unique_ptr<SegmentSource> source_;
  const std::uint64_t bytes_;
  std::uint64_t read_ = 0;
  std::vector<char> block_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
};

}  // namespace lp::dataflow

#pragma once
// Which server owns which keys of a tensor.
//
// A value, the same in every node that computes it: clients and servers need not ask each other. Any thread may read.

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace lp {

// begin <= key <= last. Empty if begin is above last.
struct KeyRange {
  std::uint64_t begin = 0;
  std::uint64_t last = std::numeric_limits<std::uint64_t>::max();

  friend bool operator==(const KeyRange&, const KeyRange&) = default;
};

class Partition {
 public:
  static constexpr std::uint32_t kVirtualNodes = 64;  // places of each server on the ring

  // The keys 0 .. keys − 1, or with keys = 0 all of 64 bits, on a hash ring. Each server is on it at `virtual_nodes`
  // places, which are hashes of its number, and owns the keys between a place and the next one (Li et al., OSDI 2014,
  // section 4.3). The ring is the key space itself, scaled, so that neighbouring keys stay together; a user whose keys
  // crowd hashes them with mix64 first. Adding a server moves only the keys that it gets.
  static Partition ring(std::uint64_t keys, std::uint32_t servers, std::uint32_t virtual_nodes = kVirtualNodes);
  // The same keys in contiguous slices whose sizes differ by one at most, in the order of the servers.
  static Partition slices(std::uint64_t keys, std::uint32_t servers);
  // All of them at one server.
  static Partition whole(std::uint64_t keys, std::uint32_t servers, std::uint32_t owner);

  std::uint32_t servers() const { return static_cast<std::uint32_t>(ranges_.size()); }
  // The ranges of a server, ascending; may be empty.
  std::span<const KeyRange> ranges(std::uint32_t server) const { return ranges_[server]; }
  // Error::failed for a key that nobody owns.
  std::uint32_t owner(std::uint64_t key) const;

  // All ranges in the order of their keys, with their owners.
  struct Segment {
    KeyRange keys{};
    std::uint32_t server = 0;
  };
  std::span<const Segment> segments() const { return segments_; }

 private:
  explicit Partition(std::uint32_t servers);
  void add(KeyRange keys, std::uint32_t server);

  std::vector<Segment> segments_;
  std::vector<std::vector<KeyRange>> ranges_;
};

// The number of keys in these ranges. Error::failed for all keys of 64 bits, because 64 bits cannot hold their number.
std::uint64_t key_count(std::span<const KeyRange> ranges);

}  // namespace lp

#pragma once
// The state of operators in a checkpoint. It is divided so that another number of replicas can load it: the state of
// keys by key group, as Flink has it. A key belongs to a group for ever, and a replica has a range of groups. Values;
// pure functions.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lp/base/array.h"
#include "nodes/dataflow/file_error.h"
#include "nodes/dataflow/key_hash.h"

namespace lp::dataflow {

inline constexpr std::uint32_t kKeyGroups = 128;  // so a stage with keys has at most as many replicas
// Instead of a group:
inline constexpr std::uint32_t kAnyReplica = kKeyGroups;        // one replica takes the piece, no matter which
inline constexpr std::uint32_t kEveryReplica = kKeyGroups + 1;  // every replica takes the piece

inline std::uint32_t key_group(std::string_view key) {
  return static_cast<std::uint32_t>(((key_hash(key) >> 32) * kKeyGroups) >> 32);
}
inline std::uint32_t replica_of_group(std::uint32_t group, std::uint32_t replicas) {
  return group * replicas / kKeyGroups;
}

struct StatePiece {
  std::uint32_t group = kAnyReplica;
  Array<std::byte> bytes{};
};
using OperatorState = std::vector<StatePiece>;

// A file that a state names is gone, for instance with its host.
class MissingFile : public FileError {
 public:
  explicit MissingFile(const std::string& path);
  std::string fact() const { return fact(path_); }  // without what to do, which depends on who can make it again

 private:
  static std::string fact(const std::string& path);
  std::string path_;
};
// MissingFile when it is.
void need_file(const std::string& path);

}  // namespace lp::dataflow

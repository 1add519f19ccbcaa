#pragma once
// The messages between workers and parameter servers. Values; they copy without copying arrays.

#include <cstdint>
#include <limits>

#include "lp/base/array.h"
#include "nodes/parameters/consistency.h"
#include "nodes/parameters/gradient_encoding.h"
#include "nodes/parameters/partition.h"

namespace lp {

// Selects rows of a tensor: those of a list, or all in a range that the server has.
struct KeySet {
  KeyRange range{};
  Array<std::uint64_t> list{};  // ascending; if not empty, it counts instead of the range
  std::uint64_t hash = 0;       // hash_of(list). Without the list: the hash of a list that this server was sent before.
};

// Equal for equal lists, never 0. In practice, no two lists of one program have the same hash.
std::uint64_t hash_of(const Array<std::uint64_t>& keys);

// A gradient, or another change, for one shard: the part of a tensor that one server owns.
struct Push {
  std::uint32_t tensor = 0;
  std::uint32_t shard = 0;  // the server that owns it, also when another serves it now
  Stamp stamp{};
  std::uint32_t examples = 0;  // how many it was summed over; an update divides by the sum of these, unless that is 0
  KeySet keys{};
  double loss = 0;    // summed over the same examples, where it is wanted
  Encoded values{};   // `width` for each key
  bool pull = false;  // answer with the same rows as they are at the worker's next clock
};

inline constexpr std::uint32_t kNoWorker = std::numeric_limits<std::uint32_t>::max();

struct Pull {
  std::uint32_t tensor = 0;
  std::uint32_t shard = 0;
  std::uint32_t worker = kNoWorker;  // the worker that reads, if a worker reads
  std::uint64_t clock = 0;           // the worker's clock, as defined in consistency.h
  KeySet keys{};
};

enum class PushOutcome : std::uint8_t {
  accepted,      // applied, or kept until its update is complete
  dropped,       // it was computed from parameters that are too old
  duplicate,     // this worker's push of this clock is there already
  ahead,         // nothing happened: the server was restarted, and lacks updates that the worker has seen or made
  unknown_list,  // nothing happened: the server does not know the list of this hash; send the list
};

struct Reply {
  PushOutcome outcome = PushOutcome::accepted;
  std::uint64_t version = 0;      // the shard's version
  std::uint64_t slowest = 0;      // the lowest clock of its workers: the values include all earlier pushes
  Array<std::uint64_t> keys{};    // pull of a range of a sparse tensor: the keys of the values
  Array<float> values{};          // set by a pull
  double loss = 0;                // mean over the examples of the newest update
  std::uint32_t incarnation = 0;  // that of the server whose shard this is, from 1; 0: unknown
};

}  // namespace lp

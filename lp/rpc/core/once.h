#pragma once
// What a service remembers of calls that must run once: for each caller the numbers it has seen, with their replies.
// The table is part of the service's checkpoint. Owned by a NodeCore; thread-safe.

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "lp/base/error.h"
#include "lp/rpc/core/frame.h"
#include "lp/wire/frames.h"

namespace lp::internal {

class Call;
struct Caller;

// How a call ended.
struct Outcome {
  Frames frames{};  // with reply_front() blank bytes
  std::optional<Error> error{};
};

class OnceTable {
 public:
  // How many answered calls of one caller are remembered. A repetition of an older one is refused, not run.
  static constexpr std::size_t kRemembered = 1024;

  // True when the call is new and must run; finish() follows. Otherwise it is a repetition: it is answered as the first
  // one was, now or when that is done, and the table keeps it until then.
  bool begin(Call& call);
  void finish(const Caller& caller, Outcome outcome);

  // The answered calls, for a checkpoint; and back.
  Frames save() const;
  void load(const Frames& saved);

 private:
  struct Entry {
    bool done = false;
    Outcome outcome{};
    std::vector<Call*> waiting{};  // repetitions
  };
  struct Seen {
    std::map<std::uint64_t, Entry> entries{};
    std::uint64_t forgotten = 0;  // every number up to this one was seen, and is no longer remembered
  };

  static void settle(Call& call, const Outcome& outcome);

  mutable std::mutex mutex_;
  std::map<std::uint64_t, Seen> callers_;  // by Caller::key
};

}  // namespace lp::internal

#pragma once
// A service's memory of calls that must run once: for each caller the numbers it has seen, with their replies. The
// table is part of the service's checkpoint. Owned by a ServiceInstance; thread-safe.

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "lp/base/error.h"
#include "lp/rpc/core/call_context.h"
#include "lp/wire/message.h"

namespace lp::rpc {

class ServerCall;
struct Caller;

// The end of a call.
struct Outcome {
  Message message{};  // with reply_front() blank bytes
  std::optional<Error> error{};
};

class OnceTable {
 public:
  // The number of answered calls of one caller that are remembered. A repetition of an older one is refused, not run.
  static constexpr std::size_t kRemembered = 1024;

  // Returns true when the call is new and must run; finish() follows. Otherwise it is a repetition: the table keeps it
  // and answers it as the first one, now or when the first one is done.
  bool begin(ServerCall& call);
  void finish(const Caller& caller, Outcome outcome);

  // Save the answered calls for a checkpoint, and restore them.
  Message save() const;
  void load(const Message& saved);

 private:
  struct Entry {
    bool done = false;
    Outcome outcome{};
    std::vector<ServerCall*> waiting{};  // repetitions
  };
  struct Seen {
    std::map<std::uint64_t, Entry> entries{};
    std::uint64_t forgotten = 0;  // every number up to this one was seen and is no longer remembered
  };

  static void settle(ServerCall& call, const Outcome& outcome);

  mutable std::mutex mutex_;
  std::map<std::uint64_t, Seen> callers_;  // by Caller::key
};

}  // namespace lp::rpc

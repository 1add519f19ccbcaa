#include "lp/rpc/core/once.h"

#include <string>
#include <utility>

#include "lp/rpc/core/call.h"
#include "lp/wire/codec.h"
#include "lp/wire/reader.h"
#include "lp/wire/writer.h"

namespace lp::rpc {
namespace {

// The part of the table that a checkpoint keeps.
struct SavedError {
  ErrorKind kind = ErrorKind::failed;
  std::string text{};
  ErrorOrigin origin{};
};
struct SavedOutcome {
  std::uint64_t number = 0;
  std::optional<SavedError> error{};
  Array<std::byte> body{};
  std::vector<Array<std::byte>> arrays{};
};
struct SavedCaller {
  std::uint64_t caller = 0;
  std::uint64_t forgotten = 0;
  std::vector<SavedOutcome> outcomes{};
};

}  // namespace

bool OnceTable::begin(ServerCall& call) {
  std::unique_lock lock(mutex_);
  Seen& seen = callers_[call.caller().key()];
  const std::uint64_t number = call.caller().sequence;
  const auto [place, added] = seen.entries.try_emplace(number);
  if (added && number > seen.forgotten) return true;
  if (added) {
    seen.entries.erase(place);
    lock.unlock();
    call.refuse(Error(ErrorKind::failed,
                      "this call was answered before, but the answer is no longer kept; it did not run again",
                      {.method = std::string(call.method().name)}));
    return false;
  }
  Entry& entry = place->second;
  if (!entry.done) {
    entry.waiting.push_back(&call);
    return false;
  }
  const Outcome outcome = entry.outcome;
  lock.unlock();
  settle(call, outcome);
  return false;
}

void OnceTable::finish(const Caller& caller, Outcome outcome) {
  std::vector<ServerCall*> waiting;
  {
    const std::lock_guard lock(mutex_);
    Seen& seen = callers_[caller.key()];
    Entry& entry = seen.entries[caller.sequence];
    entry.done = true;
    entry.outcome = outcome;
    waiting = std::exchange(entry.waiting, {});
    while (seen.entries.size() > kRemembered && seen.entries.begin()->second.done) {
      seen.forgotten = seen.entries.begin()->first;
      seen.entries.erase(seen.entries.begin());
    }
  }
  for (ServerCall* call : waiting) settle(*call, outcome);
}

void OnceTable::settle(ServerCall& call, const Outcome& outcome) {
  if (outcome.error) {
    call.fail(*outcome.error);
  } else {
    call.answer(outcome.message);
  }
  call.release();
}

Message OnceTable::save() const {
  const std::lock_guard lock(mutex_);
  Writer writer;
  writer.value(std::uint64_t{callers_.size()});
  for (const auto& [caller, seen] : callers_) {
    SavedCaller saved{.caller = caller, .forgotten = seen.forgotten};
    for (const auto& [number, entry] : seen.entries) {
      if (!entry.done) continue;
      SavedOutcome outcome{.number = number};
      if (entry.outcome.error) {
        outcome.error = SavedError{.kind = entry.outcome.error->kind(),
                                   .text = entry.outcome.error->text(),
                                   .origin = entry.outcome.error->origin()};
      } else {
        outcome.body = Array<std::byte>(entry.outcome.message.body);
        for (const Buffer& array : entry.outcome.message.arrays) outcome.arrays.emplace_back(array);
      }
      saved.outcomes.push_back(std::move(outcome));
    }
    writer.value(saved);
  }
  return writer.take();
}

void OnceTable::load(const Message& saved) {
  Reader reader(saved.body.bytes(), saved.arrays);
  std::map<std::uint64_t, Seen> callers;
  for (auto left = reader.value<std::uint64_t>(); left > 0; --left) {
    auto caller = reader.value<SavedCaller>();
    Seen& seen = callers[caller.caller];
    seen.forgotten = caller.forgotten;
    for (SavedOutcome& outcome : caller.outcomes) {
      Entry& entry = seen.entries[outcome.number];
      entry.done = true;
      if (outcome.error) {
        entry.outcome.error.emplace(outcome.error->kind, outcome.error->text, std::move(outcome.error->origin));
      } else {
        entry.outcome.message.body = outcome.body.buffer();
        for (const Array<std::byte>& array : outcome.arrays) entry.outcome.message.arrays.push_back(array.buffer());
      }
    }
  }
  reader.finish();
  const std::lock_guard lock(mutex_);
  callers_ = std::move(callers);
}

}  // namespace lp::rpc

#include "nodes/replay/shared_table.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "lp/base/error.h"

namespace lp::replay {

void SharedTable::Replies::send() {
  for (auto& [promise, reply] : inserted) promise.set_value(reply);
  for (auto& [promise, samples] : sampled) promise.set_value(std::move(samples));
  const Error late(ErrorKind::deadline, "the limits of the replay table did not allow it in time");
  for (Inserting& one : late_inserts) one.promise.set_error(late);
  for (Sampling& one : late_samples) one.promise.set_error(late);
}

template <class F>
auto SharedTable::change(F f) {
  Replies replies;
  const auto locked = [&] {
    const std::lock_guard lock(mutex_);
    if constexpr (std::is_void_v<decltype(f())>) {
      f();
      settle(replies);
    } else {
      auto result = f();
      settle(replies);
      return result;
    }
  };
  if constexpr (std::is_void_v<decltype(f())>) {
    locked();
    replies.send();
  } else {
    auto result = locked();
    replies.send();
    return result;
  }
}

TableInfo SharedTable::info() const {
  const std::lock_guard lock(mutex_);
  return table_.info();
}

Future<InsertReply> SharedTable::insert(std::vector<Entry> entries, Time until) {
  for (const Entry& one : entries) {
    check_priority(one.priority);
    table_.check_room(one);
  }
  if (entries.empty()) return ready(InsertReply());
  return change([&] {
    if (inserting_.empty() && table_.can_insert()) return ready(insert_now(entries));
    inserting_.push_back({.entries = std::move(entries), .until = until, .promise = {}});
    return inserting_.back().promise.future();
  });
}

Future<Samples> SharedTable::sample(std::uint32_t count, Time until) {
  if (count == 0) return ready(Samples());
  return change([&] {
    if (sampling_.empty() && table_.can_sample()) return ready(sample_now(count));
    sampling_.push_back({.count = count, .until = until, .promise = {}});
    return sampling_.back().promise.future();
  });
}

std::uint64_t SharedTable::update(std::span<const PriorityUpdate> updates) {
  for (const PriorityUpdate& one : updates) check_priority(one.priority);
  const std::lock_guard lock(mutex_);
  return static_cast<std::uint64_t>(std::count_if(updates.begin(), updates.end(), [this](const PriorityUpdate& one) {
    return table_.update(one.key, one.priority);
  }));
}

std::uint64_t SharedTable::remove(std::span<const std::uint64_t> keys) {
  return change([&] {
    return static_cast<std::uint64_t>(
        std::count_if(keys.begin(), keys.end(), [this](std::uint64_t key) { return table_.remove(key); }));
  });
}

void SharedTable::reset() {
  change([this] { table_.reset(); });
}

void SharedTable::save(Checkpoint& out, ChunkList& chunks) const {
  const std::lock_guard lock(mutex_);
  table_.save(out, chunks);
}

void SharedTable::load(const Checkpoint& in, std::span<const ChunkRef> chunks) {
  change([&] { table_.load(in, chunks); });
}

// An insert may let samples go on, and a sample inserts.
void SharedTable::settle(Replies& replies) {
  if (inserting_.empty() && sampling_.empty()) return;
  drop_late(replies);
  for (bool again = true; again;) {
    again = false;
    if (!inserting_.empty() && table_.can_insert()) {
      Inserting& first = inserting_.front();
      const InsertReply reply = insert_now(first.entries);
      replies.inserted.emplace_back(std::move(first.promise), reply);
      inserting_.pop_front();
      again = true;
    }
    if (!sampling_.empty() && table_.can_sample()) {
      Sampling& first = sampling_.front();
      Samples samples = sample_now(first.count);
      replies.sampled.emplace_back(std::move(first.promise), std::move(samples));
      sampling_.pop_front();
      again = true;
    }
  }
}

// Nobody waits any more for those whose time is over: they get no item.
void SharedTable::drop_late(Replies& replies) {
  const auto drop = [](auto& waiting, auto& late) {
    const auto begin =
        std::stable_partition(waiting.begin(), waiting.end(), [](const auto& one) { return !passed(one.until); });
    std::move(begin, waiting.end(), std::back_inserter(late));
    waiting.erase(begin, waiting.end());
  };
  drop(inserting_, replies.late_inserts);
  drop(sampling_, replies.late_samples);
}

InsertReply SharedTable::insert_now(std::vector<Entry>& entries) {
  InsertReply reply;
  for (Entry& one : entries) {
    if (!table_.can_insert()) break;
    table_.insert(std::move(one));
    ++reply.accepted;
  }
  return reply;
}

Samples SharedTable::sample_now(std::uint32_t count) {
  SampleBuilder builder(count);
  table_.sample(count, builder);
  return builder.take();
}

}  // namespace lp::replay

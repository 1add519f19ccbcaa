#include "lp/rpc/shm/shm_writer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/shared_heap.h"

namespace lp::rpc {
namespace {
// Arrays on the heap are kept until they are read and given back. A reader without a waiting thread may leave this many
// bytes unread.
constexpr std::size_t kMostKept = std::size_t{4} << 20;
}  // namespace

void ShmWriter::send(const Message& message) {
  const MessageHead head{.body = message.body.size(), .arrays = message.arrays.size()};
  if (queue_.empty()) lane_.start_over();
  if (kept_ >= kMostKept / 2 && lane_.all_read()) kept_ = 0;
  arrays_.clear();
  std::vector<const Buffer*> in_line;
  for (const Buffer& array : message.arrays) {
    arrays_.push_back(describe(array));
    if (arrays_.back().offset == ArrayHead::kInline) in_line.push_back(&array);
  }
  const std::size_t front = sizeof head + arrays_.size() * sizeof(ArrayHead);
  std::size_t size = front + message.body.size();
  for (const Buffer* array : in_line) size += array->size();

  if (queue_.empty() && size <= lane_.room()) {
    lane_.put(&head, sizeof head);
    lane_.put(arrays_.data(), arrays_.size() * sizeof(ArrayHead));
    lane_.put(message.body.data(), message.body.size());
    for (const Buffer* array : in_line) lane_.put(array->data(), array->size());
    lane_.publish();
    return;
  }
  Buffer first = Buffer::uninitialized(front);
  std::byte* at = first.edit().data();
  const auto add = [&at](const void* bytes, std::size_t count) {
    if (count > 0) std::memcpy(at, bytes, count);
    at += count;
  };
  add(&head, sizeof head);
  add(arrays_.data(), arrays_.size() * sizeof(ArrayHead));
  const auto queue = [this](Buffer part) {
    if (part.empty()) return;
    queued_.bytes += part.size();
    queue_.push_back({.bytes = std::move(part), .last = false});
  };
  queue(std::move(first));
  queue(message.body);
  for (const Buffer* array : in_line) queue(*array);
  queue_.back().last = true;
  ++queued_.messages;
  std::vector<Buffer> written;
  go_on(written);
}

void ShmWriter::go_on(std::vector<Buffer>& written) {
  while (!queue_.empty()) {
    const Buffer& part = queue_.front().bytes;
    const std::size_t size = std::min(part.size() - done_, lane_.room());
    if (size == 0) {
      if (lane_.wait_for_room()) break;
      continue;
    }
    lane_.put(part.data() + done_, size);
    lane_.publish();
    lane_.wake();
    done_ += size;
    if (done_ < part.size()) continue;
    queued_.bytes -= done_;
    if (queue_.front().last) --queued_.messages;
    written.push_back(std::move(queue_.front().bytes));
    queue_.pop_front();
    done_ = 0;
  }
}

bool ShmWriter::wake() noexcept {
  const bool soon = kept_ >= kMostKept;
  if (soon) kept_ = 0;
  return lane_.wake(soon);
}

ArrayHead ShmWriter::describe(const Buffer& array) {
  SharedHeap* const heap = SharedHeap::current();
  ArrayHead head{.size = array.size()};
  if (heap == nullptr || array.size() < SharedHeap::kSmallest) return head;
  // An array that is not on the heap is copied there once, rather than through the lane. If the heap is full, it goes
  // through the lane.
  const Buffer shared = heap->contains(array.data()) ? array : Buffer::copy_of(array.bytes());
  if (!heap->contains(shared.data())) return head;
  head.offset = heap->offset_of(shared.data());
  kept_ += array.size();
  if (free_.empty()) {
    head.lease = leased_.size();
    leased_.push_back(shared);
  } else {
    head.lease = free_.back();
    free_.pop_back();
    leased_[head.lease] = shared;
  }
  return head;
}

Buffer ShmWriter::take_back(std::uint64_t lease) {
  if (lease >= leased_.size() || leased_[lease].empty()) {
    throw Error(ErrorKind::failed, "malformed message: it returns an array that it does not have");
  }
  free_.push_back(lease);
  return std::exchange(leased_[lease], {});
}

}  // namespace lp::rpc

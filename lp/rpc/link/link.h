#pragma once
// A way for whole messages to one other process. It only moves them: order, deadlines, duplicates and the rest are the
// Connection's. Owned by its Connection; thread-safe.

#include <cstddef>

#include "lp/base/scheduler.h"
#include "lp/wire/frames.h"

namespace lp::internal {

class Link {
 public:
  // Bytes of a body or an array; who announces more is dropped.
  static constexpr std::size_t kLargestFrame = std::size_t{8} << 30;

  virtual ~Link() = default;
  // Queues a message; it arrives in order or, when the other side is gone, never.
  virtual void send(Frames message) = 0;
  // What was sent and has not left, because the other side does not take it.
  struct Queued {
    std::size_t messages = 0;
    std::size_t bytes = 0;
  };
  virtual Queued queued() const = 0;
  // That is so much that no more replies should be made for now; Connection::drained follows.
  virtual bool full() const noexcept = 0;
  static constexpr std::size_t kFull = 24 << 20;  // bytes

  // Big arrays are seen where they are, not copied.
  virtual bool shares_memory() const noexcept { return false; }

  // A thread that waits for a reply may read the link itself, which saves a change of thread. begin_reading gives the
  // word of the Event to wait on; null when another thread reads. read handles what has come, or looks for a little
  // while; false when nothing came. end_reading must follow.
  virtual Word* begin_reading() noexcept { return nullptr; }
  virtual Poller* poller() noexcept { return nullptr; }  // where the reading thread waits, if not on the word alone
  virtual bool read() { return false; }
  virtual void end_reading() noexcept {}
  // Somebody wants a reply as soon as it is there, without a thread that reads: the link handles what comes by itself
  // until expect_no_more. Where nobody does, replies may lie until a thread reads.
  virtual void expect() noexcept {}
  virtual void expect_no_more() noexcept {}
};

// While it lives, the current thread reads the link (may be null) if no other does.
class Reading {
 public:
  explicit Reading(Link* link) : link_(link), word_(link == nullptr ? nullptr : link->begin_reading()) {}
  ~Reading() {
    if (word_ != nullptr) link_->end_reading();
  }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

  Word* word() const { return word_; }  // null when another thread reads
  Poller* poller() const { return word_ == nullptr ? nullptr : link_->poller(); }
  bool read() const { return word_ != nullptr && link_->read(); }

 private:
  Link* link_;
  Word* word_;
};

}  // namespace lp::internal

#pragma once
// A way for whole messages to one other process. It only moves them: order, deadlines, duplicates and the rest are the
// Connection's task. Owned by its Connection; thread-safe.

#include <cstddef>
#include <cstdint>

#include "lp/base/scheduler.h"
#include "lp/wire/message.h"

namespace lp::rpc {

class Link {
 public:
  // Largest size in bytes of a body or an array. A process that announces more is dropped.
  static constexpr std::size_t kLargestFrame = std::size_t{8} << 30;

  virtual ~Link() = default;
  // Queues a message. It arrives in order, or never when the other side is gone.
  virtual void send(Message message) = 0;
  // The messages that were sent and have not left, because the other side does not take them.
  struct Queued {
    std::size_t messages = 0;
    std::size_t bytes = 0;
  };
  virtual Queued queued() const = 0;
  // Whether so much is queued that no more replies should be made for now. Connection::drained follows.
  virtual bool full() const noexcept = 0;
  static constexpr std::size_t kFull = 24 << 20;  // bytes

  // Whether the process at the other side opens memory of that place (Buffer::Elsewhere).
  virtual bool opens(std::uint64_t place) const noexcept { return (static_cast<void>(place), false); }

  // Whether big arrays are read in place, without a copy.
  virtual bool shares_memory() const noexcept { return false; }

  // A thread that waits for a reply may read the link itself, which saves a change of thread. begin_reading returns the
  // word of the Event to wait on, or null when another thread reads. read handles the messages that have come, or polls
  // for a little while; it returns false when nothing came. end_reading must follow.
  virtual Word* begin_reading() noexcept { return nullptr; }
  // The poller at which the reading thread waits, if not on the word alone.
  virtual Poller* poller() noexcept { return nullptr; }
  virtual bool read() { return false; }
  virtual void end_reading() noexcept {}
  // A caller needs its reply promptly but has no thread reading this link. Until expect_no_more(), the link handles
  // incoming messages itself; otherwise replies may wait for a reader.
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
  // An exception would leave calls of others undone, so it ends the process.
  bool read() const noexcept { return word_ != nullptr && link_->read(); }

 private:
  Link* link_;
  Word* word_;
};

}  // namespace lp::rpc

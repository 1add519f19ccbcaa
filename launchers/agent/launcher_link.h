#pragma once
// The agent's end of the connection to its launcher. The launcher counts as ended when the connection ends, when its
// process ends, or when it is silent for a lease. The agent owns it and uses it in its one thread.

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "launchers/control/message_stream.h"
#include "lp/base/function.h"
#include "lp/base/scheduler.h"

namespace lp::internal {

class LauncherLink {
 public:
  // The poller reports this link's descriptors with tags below it.
  static constexpr std::uint64_t kTags = 3;

  // Takes ownership of the descriptors. Without a lease, silence is no end. `handle` receives each message.
  LauncherLink(int in, int out, std::optional<Duration> lease, Poller& poller,
               Function<void(std::span<const std::uint8_t> message)> handle);

  // Handles a descriptor that is ready, whose tag is below kTags.
  void on_ready(const Poller::Ready& ready);
  void send(std::span<const std::uint8_t> message) { stream_.send(message); }
  std::size_t pending() const { return stream_.pending(); }  // bytes that wait for the launcher to read

  bool open() const { return open_; }
  // Ends the connection, and logs why.
  void close(const std::string& why);
  // Returns when the lease ends, unless a message comes.
  Time lease_end() const { return lease_.has_value() ? received_ + *lease_ : kNever; }
  // Ends the connection when its lease is over. Waits for what the launcher does not take. Call it after each wait.
  void advance();

 private:
  void receive();
  void watch_writable();

  Poller& poller_;
  MessageStream stream_;
  int process_;  // the launcher's process
  const std::optional<Duration> lease_;
  Function<void(std::span<const std::uint8_t>)> handle_;
  Time received_;  // when the last message arrived
  bool open_ = true;
  bool writable_ = false;  // the poller watches whether the stream is writable
};

}  // namespace lp::internal

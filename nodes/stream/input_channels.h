#pragma once
// The frames that came to a replica of a stage and wait there: a queue for each sender. A frame's credit goes back to
// its sender when the frame is taken, so no sender is far ahead. A channel that has brought the barrier of a cut waits
// until all others have, too, or have ended (aligned barriers, as in Carbone et al.: Lightweight asynchronous snapshots
// for distributed dataflows, 2015).
//
// Owned by a stage's node. push() may be called by any thread, everything else by one.

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "lp/rpc/core/future.h"
#include "nodes/stream/frame.h"
#include "nodes/stream/signal.h"

namespace lp::dataflow {

class InputChannels {
 public:
  // `senders` has the number of senders of each input. `arrived` is set when a frame has come.
  InputChannels(const std::vector<std::uint32_t>& senders, Signal& arrived);

  // Returns a future that is ready when the frame was taken. Error::failed for a sender that there is not.
  Future<void> push(Frame frame);

  // The next frame of a channel that does not wait for a barrier; channels have their turn one after the other. Its
  // mark is noted: call watermark(), aligned() and ended() afterwards. Nothing when there is none now.
  std::optional<Frame> take();

  // Whether all channels have brought the barrier of a cut, or have ended.
  bool aligned() const;
  void go_on();                                       // the cut was taken
  std::uint64_t barrier() const { return barrier_; }  // the cut that some channel waits for, or 0
  bool ended() const;
  // The least of the watermarks of the channels that are neither idle nor ended; when all are, the latest of those that
  // are idle.
  EventTime watermark() const;
  bool idle() const;  // all channels are idle or have ended, and some have not ended

  // For checkpoints: which channels have ended.
  std::vector<std::uint8_t> ends() const;
  void set_ends(const std::vector<std::uint8_t>& ends);

 private:
  struct Waiting {
    Frame frame{};
    Promise<void> taken{};
  };
  struct Channel {
    std::map<std::uint64_t, Waiting> frames{};  // by number: calls may pass one another
    std::uint64_t next = 0;
    std::uint32_t life = 0;
    bool blocked = false;
    bool ended = false;
    bool idle = false;
    EventTime watermark = kNoTime;
  };
  std::optional<Waiting> pop();
  void note(Channel& channel, const Frame& frame);

  Signal& arrived_;
  std::vector<std::size_t> first_{};  // channel of each input's first sender, and their number at the end
  mutable std::mutex mutex_;          // for the frames; the rest belongs to the one that takes them
  std::vector<Channel> channels_{};
  std::size_t turn_ = 0;
  std::uint64_t barrier_ = 0;
};

}  // namespace lp::dataflow

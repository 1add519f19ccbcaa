#pragma once
// The splits of a stage's source, such as its files, for operators that keep a watermark for each of them. The source
// opens, reads and closes splits; a Follower has their times. The watermark of the stage is the least of the splits
// that are open and not idle (Flink: per-split watermarks, with idleness).
//
// Owned by a stage; one thread.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lp/base/scheduler.h"
#include "nodes/stream/frame.h"

namespace lp::dataflow {

struct Split {
  std::string name{};        // the same in each run
  std::uint32_t group = 0;   // for a StatePiece about it
  bool idle = false;         // it is read to its end, and nothing has come for a while: it holds no watermark back
  Time used{};               // when it was opened, or read last
  EventTime time = kNoTime;  // its watermark: the source reads the split with the least one first
};

class Splits {
 public:
  class Follower {
   public:
    virtual void opened(const Split& split) = 0;
    virtual void closed(const Split& split) = 0;   // nothing more will come of it
    virtual void changed(const Split& split) = 0;  // it is idle now, or is so no longer

   protected:
    ~Follower() = default;
  };
  void add(Follower& follower) { followers_.push_back(&follower); }
  // Whether anybody has times.
  bool followed() const { return !followers_.empty(); }

  // For the source. A split that is open already stays as it is.
  Split& open(const std::string& name, std::uint32_t group);
  void close(const std::string& name);
  void set_idle(Split& split, bool idle);
  // The records that come now are of this split.
  void read(Split& split);

  // The one that is read; nullptr: the source has no splits.
  Split* current() const { return current_; }
  const std::map<std::string, Split>& all() const { return splits_; }

 private:
  std::map<std::string, Split> splits_{};
  Split* current_ = nullptr;
  std::vector<Follower*> followers_{};
};

}  // namespace lp::dataflow

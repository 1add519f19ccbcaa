#include "nodes/stream/split_times.h"

#include <algorithm>

#include "nodes/dataflow/record_codec.h"

namespace lp::dataflow {
namespace {

enum class TimesPiece : std::uint8_t { time, waiting };

RecordWriter begin_piece(const std::string& split, TimesPiece kind) {
  RecordWriter out;
  out.text(split);
  out.number(kind);
  return out;
}

}  // namespace

EventTime SplitTimes::watermark() const {
  const bool counts = split_ != nullptr || splits_.all().empty();
  const EventTime least = counts ? std::min(mark_of(*present_), others_) : others_;
  if (least != kEndOfTime) return least;
  EventTime latest = kNoTime;
  for (const auto& [name, split] : splits_.all()) {
    const auto at = times_.find(name);
    if (split.idle && at != times_.end()) latest = std::max(latest, mark_of(at->second));
  }
  return latest;
}

RecordBag SplitTimes::take_waiting() {
  RecordBag out;
  for (auto& [name, one] : times_) {
    out.add_bytes(one.waiting.bytes, one.waiting.count);
    one.waiting = {};
  }
  return out;
}

void SplitTimes::hold(const Split& split, bool holds) {
  const std::pair one(mark_of(times_of(&split)), &split);
  if (holds) {
    holding_.insert(one);
  } else {
    holding_.erase(one);
  }
  others_ = holding_.empty() ? kEndOfTime : holding_.begin()->first;
}

void SplitTimes::turn_to(const Split* next) {
  if (split_ != nullptr && !split_->idle) hold(*split_, true);
  split_ = next;
  present_ = &times_of(next);
  if (next != nullptr) hold(*next, false);
  times_changed();
}

void SplitTimes::opened(const Split& split) {
  if (!started_) return;
  if (!split.idle) hold(split, true);
  times_changed();
}

void SplitTimes::closed(const Split& split) {
  if (!started_) return;
  if (&split == split_) turn_to(nullptr);
  hold(split, false);
  const RecordBag waiting = std::move(times_of(&split).waiting);
  times_.erase(split.name);
  give(waiting);
  times_changed();
}

void SplitTimes::changed(const Split& split) {
  if (!started_) return;
  if (&split == split_) {
    turn_to(nullptr);
  } else {
    hold(split, !split.idle);
    times_changed();
  }
}

void SplitTimes::save_times(OperatorState& out) const {
  const auto save = [&out](const std::string& name, std::uint32_t group, const Times& of) {
    // A replica that has not begun a file holds back the others that have parts of it, when all go on.
    if (of.agreed || (!name.empty() && group == kEveryReplica)) {
      RecordWriter piece = begin_piece(name, TimesPiece::time);
      piece.number(of.latest);
      piece.number(of.agreed);
      out.push_back({.group = group, .bytes = piece.take(0)});
    }
    if (of.waiting.count == 0) return;
    RecordWriter piece = begin_piece(name, TimesPiece::waiting);
    piece.number(of.waiting.count);
    piece.text(of.waiting.bytes);
    out.push_back({.group = group == kEveryReplica ? kAnyReplica : group, .bytes = piece.take(0)});
  };
  const auto find = [this](const std::string& name) {
    const auto at = times_.find(name);
    return at == times_.end() ? Times() : at->second;
  };
  save({}, kEveryReplica, find({}));
  for (const auto& [name, split] : splits_.all()) save(name, split.group, find(name));
}

void SplitTimes::load_times(const StatePiece& piece) {
  RecordBytes in(piece.bytes);
  Times& of = times_[std::string(in.text())];
  if (in.number<TimesPiece>() == TimesPiece::waiting) {
    const auto count = in.number<std::uint64_t>();
    of.waiting.add_bytes(in.text(), count);
    return;
  }
  const auto latest = in.number<EventTime>();
  const bool agreed = in.number<bool>();
  // If several replicas saved it, the least one counts.
  of.latest = of.loaded ? std::min(of.latest, latest) : latest;
  of.agreed = agreed && (of.agreed || !of.loaded);
  of.loaded = true;
}

void SplitTimes::start_times() {
  RecordBag waiting;  // in files that other replicas read
  std::erase_if(times_, [&](const auto& one) {
    if (one.first.empty() || splits_.all().contains(one.first)) return false;
    waiting.add_bytes(one.second.waiting.bytes, one.second.waiting.count);
    return true;
  });
  times_[{}].waiting.add_bytes(waiting.bytes, waiting.count);
  started_ = true;
  for (const auto& [name, split] : splits_.all()) {
    if (!split.idle) hold(split, true);
  }
}

}  // namespace lp::dataflow

#include "nodes/stream/input_channels.h"

#include <algorithm>
#include <string>
#include <utility>

#include "lp/base/error.h"

namespace lp::dataflow {

InputChannels::InputChannels(const std::vector<std::uint32_t>& senders, Signal& arrived) : arrived_(arrived) {
  std::size_t channels = 0;
  first_.push_back(0);
  for (const std::uint32_t number : senders) first_.push_back(channels += number);
  channels_.resize(channels);
}

Future<void> InputChannels::push(Frame frame) {
  if (frame.input + 1 >= first_.size() || frame.sender >= first_[frame.input + 1] - first_[frame.input]) {
    throw Error(ErrorKind::failed, "a frame came from a sender that this stage does not have");
  }
  Waiting waiting;
  Future<void> taken = waiting.taken.future();
  {
    const std::lock_guard lock(mutex_);
    Channel& channel = channels_[first_[frame.input] + frame.sender];
    if (frame.life < channel.life) throw Error(ErrorKind::failed, "a frame came from a sender that has ended");
    if (frame.life > channel.life && channel.next > 0) {
      throw Error(ErrorKind::failed, "a sender was restarted, and this stage was not");
    }
    channel.life = frame.life;
    const std::uint64_t number = frame.number;
    waiting.frame = std::move(frame);
    channel.frames.emplace(number, std::move(waiting));
  }
  arrived_.set();
  return taken;
}

std::optional<InputChannels::Waiting> InputChannels::pop() {
  const std::lock_guard lock(mutex_);
  for (std::size_t tried = 0; tried < channels_.size(); ++tried) {
    turn_ = turn_ + 1 < channels_.size() ? turn_ + 1 : 0;
    Channel& channel = channels_[turn_];
    if (channel.blocked || channel.frames.empty() || channel.frames.begin()->first != channel.next) continue;
    ++channel.next;
    return std::move(channel.frames.extract(channel.frames.begin()).mapped());
  }
  return {};
}

std::optional<Frame> InputChannels::take() {
  std::optional<Waiting> waiting = pop();
  if (!waiting) return {};
  note(channels_[turn_], waiting->frame);
  waiting->taken.set_value();
  return std::move(waiting->frame);
}

void InputChannels::note(Channel& channel, const Frame& frame) {
  const Mark& mark = frame.mark;
  if (!frame.records.empty() || mark.kind == MarkKind::watermark) channel.idle = false;
  switch (mark.kind) {
    case MarkKind::watermark: channel.watermark = std::max(channel.watermark, mark.value); break;
    case MarkKind::barrier:
      channel.blocked = true;
      barrier_ = std::max(barrier_, static_cast<std::uint64_t>(mark.value));
      break;
    case MarkKind::end: channel.ended = true; break;
    case MarkKind::idle: channel.idle = true; break;
    default: break;
  }
}

bool InputChannels::aligned() const {
  return std::all_of(channels_.begin(), channels_.end(), [](const Channel& one) { return one.blocked || one.ended; });
}

void InputChannels::go_on() {
  for (Channel& one : channels_) one.blocked = false;
  barrier_ = 0;
}

bool InputChannels::ended() const {
  return std::all_of(channels_.begin(), channels_.end(), [](const Channel& one) { return one.ended; });
}

EventTime InputChannels::watermark() const {
  EventTime least = kEndOfTime, latest = kNoTime;
  for (const Channel& one : channels_) {
    if (one.ended) continue;
    latest = std::max(latest, one.watermark);
    if (!one.idle) least = std::min(least, one.watermark);
  }
  return idle() ? latest : least;
}

bool InputChannels::idle() const {
  const auto silent = [](const Channel& one) { return one.idle || one.ended; };
  return !ended() && std::all_of(channels_.begin(), channels_.end(), silent);
}

std::vector<std::uint8_t> InputChannels::ends() const {
  std::vector<std::uint8_t> out;
  for (const Channel& one : channels_) out.push_back(one.ended ? 1 : 0);
  return out;
}

void InputChannels::set_ends(const std::vector<std::uint8_t>& ends) {
  for (std::size_t i = 0; i < std::min(ends.size(), channels_.size()); ++i) channels_[i].ended = ends[i] != 0;
}

}  // namespace lp::dataflow

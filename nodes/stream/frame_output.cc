#include "nodes/stream/frame_output.h"

#include <utility>

#include "nodes/stream/stage_node.h"

namespace lp::dataflow {

FrameOutput::FrameOutput(Clients<StageNode> to, std::uint32_t input, std::uint32_t sender, std::uint32_t life,
                         EdgeCounts counts)
    : to_(std::move(to)), input_(input), sender_(sender), life_(life), ways_(to_.size()), counts_(std::move(counts)) {}

std::size_t FrameOutput::distance() {
  random_ = random_ * 6364136223846793005u + 1442695040888963407u;  // Knuth's
  return 1 + (random_ >> 57);
}

void FrameOutput::mark(const Mark& mark) {
  for (std::uint32_t receiver = 0; receiver < receivers(); ++receiver) send(receiver, mark);
}

void FrameOutput::send(std::uint32_t receiver, const Mark& mark) {
  Way& way = ways_[receiver];
  const std::size_t room = way.records.size() >= kFrameBytes ? kFrameBytes + kFrameBytes / 8 : 0;
  Frame frame{.input = input_, .sender = sender_, .life = life_, .number = way.frames++};
  counts_.bytes += way.records.size();
  frame.records = way.records.take(room);
  frame.mark = mark;
  while (!way.ahead.empty() && (way.ahead.front().ready() || way.ahead.size() >= kFramesAhead)) {
    way.ahead.front().get();
    way.ahead.pop_front();
  }
  way.ahead.push_back(to_[receiver].async<&StageNode::push>(std::move(frame)));
}

}  // namespace lp::dataflow

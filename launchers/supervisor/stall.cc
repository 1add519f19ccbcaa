#include "launchers/supervisor/stall.h"

#include <algorithm>
#include <utility>

#include "lp/base/text.h"

namespace lp::launch {
namespace {

constexpr double kIdleShare = 0.02;          // the part of one processor that all processes together may use
constexpr std::size_t kMostShownNodes = 10;  // the number of nodes in the message

}  // namespace

void Stall::on_measured(std::size_t process, const Measurement& part) {
  Measurement& all = parts_[process];
  if (part.use.has_value()) all.use = part.use;
  if (part.calls.has_value()) all.calls = part.calls;
}

Stall::Picture Stall::picture_of(const RunStatus& status) const {
  Picture picture;
  for (const NodeStatus& node : status.nodes) {
    picture.nodes.emplace_back(node.state, node.incarnation, node.step, node.values);
  }
  for (const auto& [process, part] : parts_) {
    if (!part.calls.has_value()) continue;
    for (const MeasureRecord::Calls& calls : *part.calls) {
      picture.calls += calls.calls;
      picture.ended += calls.ended;
    }
  }
  return picture;
}

double Stall::computed() const {
  double seconds = 0;
  for (const auto& [process, part] : parts_) seconds += part.use.has_value() ? part.use->cpu : 0;
  return seconds;
}

// Returns text like "worker/0 for 2 calls of server.pull; worker/1 in its run()".
std::string Stall::waits(const RunStatus& status) const {
  std::map<std::string, std::vector<std::string>> waiting;  // by node
  for (const auto& [process, part] : parts_) {
    if (!part.calls.has_value()) continue;
    for (const MeasureRecord::Calls& calls : *part.calls) {
      if (calls.calls <= calls.ended) continue;
      const std::uint64_t open = calls.calls - calls.ended;
      waiting[calls.caller].push_back((open == 1 ? "" : std::to_string(open) + " calls of ") + calls.callee + "." +
                                      calls.method);
    }
  }
  std::vector<std::string> all;
  for (const NodeStatus& node : status.nodes) {
    if (const auto at = waiting.find(node.name); at != waiting.end()) {
      all.push_back(node.name + " for " + join(at->second, " and "));
    } else if (node.state == NodeStatus::State::running) {
      all.push_back(node.name + " in its run()");
    }
  }
  const std::size_t more = all.size() - std::min(all.size(), kMostShownNodes);
  all.resize(all.size() - more);
  return join(all, "; ") + (more == 0 ? "" : "; and " + std::to_string(more) + " more");
}

bool Stall::update(const RunStatus& status, double cpu) {
  cpu += computed();
  Picture picture = picture_of(status);
  const bool runs = std::any_of(status.nodes.begin(), status.nodes.end(),
                                [](const NodeStatus& node) { return node.state == NodeStatus::State::running; });
  const bool still =
      status.phase == Phase::running && runs && picture == last_ && cpu - last_cpu_ < kIdleShare * to_seconds(period_);
  last_ = std::move(picture);
  last_cpu_ = cpu;
  const bool stood = !text_.empty();
  still_ = still ? still_ + 1 : 0;
  if (still && still_ >= patience_) {
    text_ = "no node has made progress for " + duration_text(period_ * static_cast<int>(still_)) +
            "; these nodes wait: " + waits(status);
  } else if (stood) {
    text_.clear();
    patience_ *= 2;
  }
  return stood == text_.empty();
}

}  // namespace lp::launch

#include "lp/rpc/observation/span_recorder.h"

#include <algorithm>
#include <exception>
#include <limits>

#include "lp/base/hash.h"
#include "lp/rpc/observation/span_ring.h"

namespace lp {
namespace {

// A thread without credit looks for it only now and then, because it may make calls that take no longer than the look.
constexpr int kUnseen = 16;
constinit thread_local int t_unseen = 0;

// Whether the thread had no credit, and does not look for it yet. It comes first, because most calls end here.
bool is_unseen() noexcept {
  if (t_unseen == 0) return false;
  --t_unseen;
  return true;
}

constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();

std::uint64_t threshold_of(double share) {
  if (!(share > 0)) return 0;
  if (share >= 1) return kAll;
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(share * 0x1p64), 1);
}

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last = 0;
  return last.fetch_add(1) + 1;
}

}  // namespace

struct SpanRecorder::Part {
  SpanRing ring;
  std::atomic<bool> ended = false;  // its thread has
  // Used by the thread:
  std::uint64_t random = 0;
  double credit = kMostCredit;
  Time credited = about_now();

  bool has_credit() {
    const Time at = about_now();
    credit = std::min<double>(credit + to_seconds(at - credited) * kRecordsPerSecond, kMostCredit);
    credited = at;
    if (credit <= 0) t_unseen = kUnseen;
    return credit > 0;
  }
};

struct SpanRecorder::Mine {
  std::uint64_t recorder = 0;
  std::weak_ptr<Part> part{};

  Mine() = default;
  Mine(const Mine&) = delete;
  Mine& operator=(const Mine&) = delete;
  ~Mine() { leave(); }
  void leave() {
    if (const std::shared_ptr<Part> left = part.lock(); left != nullptr) left->ended.store(true);
  }
};

SpanRecorder::SpanRecorder() : number_(next_number()) {}

std::shared_ptr<SpanRecorder::Part> SpanRecorder::mine() noexcept {
  thread_local Mine mine;
  if (mine.recorder == number_) {
    if (std::shared_ptr<Part> part = mine.part.lock(); part != nullptr) return part;
  }
  try {
    auto part = std::make_shared<Part>();
    part->random = mix64(static_cast<std::uint64_t>(wall_clock()) ^ static_cast<std::uint64_t>(thread_id()) << 40);
    const std::lock_guard lock(mutex_);
    if (!on() || parts_.size() >= kMostThreads) return nullptr;
    parts_.push_back(part);
    mine.leave();
    mine.recorder = number_;
    mine.part = part;
    return part;
  } catch (const std::exception&) {
    return nullptr;
  }
}

bool SpanRecorder::decides() noexcept {
  const bool bounded = bounded_.load(std::memory_order_relaxed);
  if (bounded && is_unseen()) return false;
  const std::shared_ptr<Part> part = mine();
  if (part == nullptr) return false;
  part->random = mix64(part->random);
  return part->random <= threshold_.load(std::memory_order_relaxed) && (!bounded || part->has_credit());
}

bool SpanRecorder::has_credit() noexcept {
  if (is_unseen()) return false;
  const std::shared_ptr<Part> part = mine();
  return part != nullptr && part->has_credit();
}

void SpanRecorder::record(const SpanRecord& record) noexcept {
  if (!on()) return;
  const std::shared_ptr<Part> part = mine();
  if (part == nullptr) {
    lost_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  part->credit -= 1;
  part->ring.write(record);
}

void SpanRecorder::start(const Sampling& sampling) {
  const std::lock_guard lock(mutex_);
  on_ = true;
  bounded_ = sampling.bounded;
  threshold_ = threshold_of(sampling.share);
}

RecordedSpans SpanRecorder::take(std::size_t most) {
  RecordedSpans all;
  const std::lock_guard lock(mutex_);
  // Each time another thread comes first, so that one that records very much does not keep the others out.
  if (!parts_.empty()) std::rotate(parts_.begin(), parts_.begin() + 1, parts_.end());
  all.lost = lost_.exchange(0);
  std::erase_if(parts_, [&](const std::shared_ptr<Part>& part) {
    const bool ended = part->ended.load();  // before it is read: then all that it had written is read
    part->ring.read(all.records, most - all.records.size());
    all.lost += part->ring.take_lost();
    return ended && part->ring.empty();
  });
  return all;
}

void SpanRecorder::stop() {
  const std::lock_guard lock(mutex_);
  threshold_ = 0;
  on_ = false;
  parts_.clear();
  lost_ = 0;
}

}  // namespace lp

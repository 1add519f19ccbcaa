#include "lp/rpc/shm/link.h"

#include <utility>

#include "lp/base/error.h"
#include "lp/rpc/link/receivers.h"

namespace lp::internal {
namespace {

// Replies to quick calls wake a caller that sleeps together, at most so much later.
constexpr Duration kTogether = std::chrono::microseconds(200);
constexpr Duration kQuick = std::chrono::microseconds(10);

}  // namespace

// The messages of a link that the current thread handles one after the other. A reply that it sends while there are
// more need not wake a caller that sleeps: that is owed, and paid when there are no more, when a handler waits or takes
// long, or when time is over.
class ShmLink::Batch final : private BeforeWait {
 public:
  explicit Batch(ShmLink& link) : link_(link), outer_(std::exchange(t_batch, this)) {}
  ~Batch() {
    t_batch = outer_;
    pay();
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  // Of this thread; null when it is at no messages of `link`.
  static Batch* of(const ShmLink& link) { return t_batch != nullptr && &t_batch->link_ == &link ? t_batch : nullptr; }
  static Batch* current() { return t_batch; }

  // A reply was sent to one who sleeps: whether that may wait.
  bool owe() {
    ++replies_;
    const Duration spent = now() - begin_;
    owes_ = spent < kTogether && spent < replies_ * kQuick;
    wakes_ = !owes_;
    return owes_;
  }
  bool owes() const { return owes_; }
  void pay() {
    if (!std::exchange(owes_, false)) return;
    link_.pay();
    wakes_ = true;
    woke();
  }
  // After a caller was woken: it may have had our core, which is no time of a handler.
  void woke() {
    if (!std::exchange(wakes_, false)) return;
    begin_ = now();
    replies_ = 0;
  }

 private:
  void hand_over() noexcept override { pay(); }

  static thread_local Batch* t_batch;

  ShmLink& link_;
  Batch* const outer_;
  Time begin_ = now();
  int replies_ = 0;
  bool owes_ = false;
  bool wakes_ = false;
};

thread_local ShmLink::Batch* ShmLink::Batch::t_batch = nullptr;

// Gives back what came from the neighbour's heap and nobody here needs any more, as long as the link is there.
class ShmLink::Returns : public std::enable_shared_from_this<Returns> {
 public:
  Returns(const ShmLink& link, LeaseRing& ring) : neighbour_(link.neighbour_), link_(&link), giver_(ring) {}

  Buffer map(const ArrayHead& array) {
    return Buffer::wrap(
        neighbour_->heap.data() + array.offset, array.size,
        [self = shared_from_this(), lease = array.lease, size = array.size] { self->give(lease, size); });
  }
  void go_on() {
    if (!waits_.load()) return;
    const std::lock_guard lock(mutex_);
    if (giver_.go_on()) link_->ring_there();
    waits_ = giver_.waits();
  }
  void detach() {
    const std::lock_guard lock(mutex_);
    link_ = nullptr;
  }

 private:
  void give(std::uint64_t lease, std::size_t size) {
    const std::lock_guard lock(mutex_);
    if (link_ == nullptr) return;
    waits_ = true;  // before the taker can ring for it
    const bool ring = giver_.give(lease, size);
    waits_ = giver_.waits();
    if (ring) link_->ring_there();
  }

  const std::shared_ptr<const Neighbour> neighbour_;
  std::mutex mutex_;
  const ShmLink* link_;
  LeaseGiver giver_;
  std::atomic<bool> waits_ = false;  // it has no room
};

namespace {

LanePair& lane_pair(const SharedMemory& memory) { return *reinterpret_cast<LanePair*>(memory.data()); }
bool dials(ShmLink::Side side) { return side == ShmLink::Side::dialer; }

}  // namespace

ShmLink::ShmLink(Side side, SharedMemory lanes, std::shared_ptr<const Neighbour> neighbour,
                 std::shared_ptr<const SharedMemory> bell, std::uint32_t here, std::uint32_t there)
    : lanes_(std::move(lanes)),
      neighbour_(std::move(neighbour)),
      bell_(std::move(bell)),
      here_(here),
      there_(there),
      incoming_(dials(side) ? lane_pair(lanes_).to_dialer : lane_pair(lanes_).to_dialed),
      returns_(std::make_shared<Returns>(
          *this, dials(side) ? lane_pair(lanes_).back_to_dialed : lane_pair(lanes_).back_to_dialer)),
      expected_(dials(side) ? 0 : 1),
      writer_(dials(side) ? LaneWriter(lane_pair(lanes_).to_dialed, lane_pair(lanes_).ring_to_dialed)
                          : LaneWriter(lane_pair(lanes_).to_dialer, lane_pair(lanes_).ring_to_dialer)),
      taker_(dials(side) ? lane_pair(lanes_).back_to_dialer : lane_pair(lanes_).back_to_dialed),
      reader_(dials(side) ? LaneReader(lane_pair(lanes_).to_dialer, lane_pair(lanes_).ring_to_dialer)
                          : LaneReader(lane_pair(lanes_).to_dialed, lane_pair(lanes_).ring_to_dialed),
              neighbour_->heap.size(),
              [returns = returns_.get()](const ArrayHead& array) { return returns->map(array); }) {
  SharedHeap::use().add(*this);
}

ShmLink::~ShmLink() {
  SharedHeap::use().remove(*this);
  returns_->detach();
}

void ShmLink::send(Frames message) {
  if (taker_.any()) take_back();
  bool ring = false;
  {
    const std::lock_guard lock(sending_);
    writer_.send(message);
    queued_.store(writer_.queued().messages > 0, std::memory_order_relaxed);
    if (writer_.queued().bytes > kFull) full_ = true;
    const bool owes = owe();
    if (owes != owes_.load(std::memory_order_relaxed)) owes_ = owes;  // a store is a barrier
    ring = !owes && writer_.wake();
  }
  if (ring) ring_there();
  if (Batch* const batch = Batch::of(*this)) batch->woke();
}

Link::Queued ShmLink::queued() const {
  if (!queued_.load(std::memory_order_relaxed)) return {};
  const std::lock_guard lock(sending_);
  return writer_.queued();
}

// The message that was sent just now need not wake the reader. Only while another thread stands by, who pays if this
// one takes long.
bool ShmLink::owe() const {
  Batch* const batch = Batch::of(*this);
  return batch != nullptr && incoming_.unread() != 0 && writer_.reader_sleeps() && Receivers::on_duty() && batch->owe();
}

void ShmLink::pay() {
  bool ring = false;
  {
    const std::lock_guard lock(sending_);
    ring = owes_.exchange(false) && writer_.wake();
  }
  if (ring) ring_there();
}

Word* ShmLink::begin_reading() noexcept {
  std::uint32_t seen = incoming_.reader.load();
  while (seen == Lane::kRing || seen == Lane::kLater) {
    if (incoming_.reader.compare_exchange_weak(seen, Event::kEmpty)) return &incoming_.reader;
  }
  return nullptr;
}

void ShmLink::end_reading() noexcept {
  incoming_.reader = Lane::kLater;
  // A writer that filled the ring while we read did not ring.
  if (expected_.load() > 0 || incoming_.unread() >= LanePair::kRing / 2) ring_for_all();
}

void ShmLink::expect() noexcept {
  expected_.fetch_add(1);
  ring_for_all();
}

// What comes from now on is handled at once, and what has come.
void ShmLink::ring_for_all() noexcept {
  std::uint32_t later = Lane::kLater;
  if (incoming_.reader.compare_exchange_strong(later, Lane::kRing) && incoming_.unread() != 0) ring_here();
}

bool ShmLink::read() {
  if (receive() > 0) {
    spin_.came_later();
    return true;
  }
  return !role_.taken() && spin_.until([this] { return incoming_.unread() != 0; });
}

std::size_t ShmLink::receive(std::size_t most) {
  std::size_t count = 0;
  Batch batch(*this);
  for (bool more = true; more && count < most && role_.enter();) count += receive_some(most - count, more);
  return count;
}

// In the role of the one who receives, which it leaves: handles up to `most` messages, and no more when one of them has
// a handler, which it runs.
std::size_t ShmLink::receive_some(std::size_t most, bool& more) {
  Receiving<ShmLink> receiving(role_, *this);
  std::size_t count = 0;
  Runnable handler;
  try {
    do {
      maintain();
      Frames message;
      more = !broken_ && reader_.next(message);
      if (reader_.release()) ring_there();
      if (!more) break;
      ++count;
      handler = connection_->on_message(std::move(message));
    } while (!handler && count < most && receiving.has_role());
  } catch (const std::exception&) {
    broken_ = true;
    connection_->refuse();
  }
  if (!receiving.has_role()) {
    more = false;  // it had to wait, and another has the role
  } else {
    const bool unread = incoming_.unread() != 0;
    if (receiving.leave()) {
      more = true;
      if (handler) ring_here();
    }
    if (handler) Receivers::before_handler(unread);
  }
  handler.run();
  return count;
}

void ShmLink::maintain() {
  returns_->go_on();
  if (taker_.any()) take_back();
  if (!broken_ && malformed_.load(std::memory_order_relaxed)) {
    throw Error(ErrorKind::failed, "malformed message: it gives back what it does not have");
  }
  if (owes_.load(std::memory_order_relaxed) && !Batch::current()->owes()) pay();  // the thread that owes it takes long
  std::vector<Buffer> written;                                                    // dropped outside the lock
  if (!queued_.load(std::memory_order_relaxed)) return;
  bool ring = false;
  bool drained = false;
  {
    const std::lock_guard lock(sending_);
    writer_.go_on(written);
    queued_.store(writer_.queued().messages > 0, std::memory_order_relaxed);
    drained = writer_.queued().bytes <= kFull && full_.exchange(false);
    owes_ = false;
    ring = writer_.wake();
  }
  if (ring) ring_there();
  if (drained) connection_->drained();
}

// By whichever thread comes by.
void ShmLink::take_back() noexcept {
  std::vector<Buffer> returned;  // dropped outside the lock
  const std::lock_guard lock(sending_);
  take_back_locked(returned);
}

void ShmLink::take_back(std::vector<Buffer>& returned) noexcept {
  if (!taker_.any()) return;
  if (const std::unique_lock lock(sending_, std::try_to_lock); lock.owns_lock()) take_back_locked(returned);
}

// Who receives ends the link when the neighbour gives back what it does not have.
void ShmLink::take_back_locked(std::vector<Buffer>& returned) noexcept {
  try {
    for (std::uint64_t lease = 0; !malformed_ && taker_.take(lease);) returned.push_back(writer_.take_back(lease));
    if (taker_.release()) ring_there();
  } catch (const std::exception&) {
    malformed_ = true;
    ring_here();
  }
}

}  // namespace lp::internal

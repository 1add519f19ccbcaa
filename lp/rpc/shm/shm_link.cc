#include "lp/rpc/shm/shm_link.h"

#include <exception>
#include <utility>

#include "lp/base/error.h"
#include "lp/rpc/link/receivers.h"

namespace lp::rpc {
namespace {

// Replies to quick calls wake a sleeping caller together, delayed by at most this time.
constexpr Duration kTogether = std::chrono::microseconds(200);
constexpr Duration kQuick = std::chrono::microseconds(10);

}  // namespace

// The messages of a link that the current thread handles one after the other. While more messages are there, a reply
// need not wake a sleeping caller. The thread owes that wake-up, and pays it when there are no more messages, when a
// handler waits or takes long, or when the time is over.
class ShmLink::Batch final : private BeforeWait {
 public:
  explicit Batch(ShmLink& link) : link_(link), outer_(std::exchange(t_batch, this)) {}
  ~Batch() {
    t_batch = outer_;
    pay();
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  // Returns the batch of this thread, or null when the thread handles no messages of `link`.
  static Batch* of(const ShmLink& link) { return t_batch != nullptr && &t_batch->link_ == &link ? t_batch : nullptr; }
  static Batch* current() { return t_batch; }

  // Notes that a reply was sent to a sleeping caller. Returns whether its wake-up may wait.
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
  // Called after a caller was woken: it may have had our core, and that time belongs to no handler.
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

// Gives back arrays of the neighbour's heap that nobody here needs any more, as long as the link exists.
class ShmLink::Returns : public std::enable_shared_from_this<Returns> {
 public:
  Returns(const ShmLink& link, ReleaseRing& ring) : neighbour_(link.neighbour_), link_(&link), giver_(ring) {}

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
    waits_ = true;  // set before the taker can ring for it
    const bool ring = giver_.give(lease, size);
    waits_ = giver_.waits();
    if (ring) link_->ring_there();
  }

  const std::shared_ptr<const Neighbour> neighbour_;
  std::mutex mutex_;
  const ShmLink* link_;
  ReleaseWriter giver_;
  std::atomic<bool> waits_ = false;  // leases wait for room in the ring
};

namespace {

RingPair& lane_pair(const SharedMemory& memory) { return *reinterpret_cast<RingPair*>(memory.data()); }
bool dials(ShmLink::Side side) { return side == ShmLink::Side::dialer; }

}  // namespace

ShmLink::ShmLink(Pool& pool, Side side, SharedMemory lanes, std::shared_ptr<const Neighbour> neighbour,
                 std::shared_ptr<const SharedMemory> bell, std::uint32_t here, std::uint32_t there)
    : pool_(pool),
      lanes_(std::move(lanes)),
      neighbour_(std::move(neighbour)),
      bell_(std::move(bell)),
      here_(here),
      there_(there),
      incoming_(dials(side) ? lane_pair(lanes_).to_dialer : lane_pair(lanes_).to_dialed),
      returns_(std::make_shared<Returns>(
          *this, dials(side) ? lane_pair(lanes_).back_to_dialed : lane_pair(lanes_).back_to_dialer)),
      expected_(dials(side) ? 0 : 1),
      writer_(dials(side) ? RingWriter(lane_pair(lanes_).to_dialed, lane_pair(lanes_).ring_to_dialed)
                          : RingWriter(lane_pair(lanes_).to_dialer, lane_pair(lanes_).ring_to_dialer)),
      taker_(dials(side) ? lane_pair(lanes_).back_to_dialer : lane_pair(lanes_).back_to_dialed),
      reader_(dials(side) ? RingReader(lane_pair(lanes_).to_dialer, lane_pair(lanes_).ring_to_dialer)
                          : RingReader(lane_pair(lanes_).to_dialed, lane_pair(lanes_).ring_to_dialed),
              neighbour_->heap.size(),
              [returns = returns_.get()](const ArrayHead& array) { return returns->map(array); }) {
  SharedHeap::use().add(*this);
}

ShmLink::~ShmLink() {
  SharedHeap::use().remove(*this);
  returns_->detach();
  forget_neighbour();  // handlers that were still running may have opened memory of it
}

void ShmLink::forget_neighbour() noexcept { SharedHeap::use().neighbour_is_gone(neighbour_->heap); }

void ShmLink::send(Message message) {
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

// Whether the message that was sent just now need not wake the reader. This is allowed only while another thread stands
// by, which pays if this one takes long.
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
  while (seen == ShmRing::kRing || seen == ShmRing::kLater) {
    if (incoming_.reader.compare_exchange_weak(seen, Event::kEmpty)) return &incoming_.reader;
  }
  return nullptr;
}

void ShmLink::end_reading() noexcept {
  incoming_.reader = ShmRing::kLater;
  // A writer that filled the ring while this side read did not ring.
  if (expected_.load() > 0 || incoming_.unread() >= RingPair::kRing / 2) ring_for_all();
}

void ShmLink::expect() noexcept {
  expected_.fetch_add(1);
  ring_for_all();
}

// The thread that has the role reads the next messages anyway: a ring for them would wake another thread for nothing.
void ShmLink::ring_later() noexcept {
  std::uint32_t ring = ShmRing::kRing;
  incoming_.reader.compare_exchange_strong(ring, ShmRing::kLater);
}

void ShmLink::ring_again() noexcept {
  if (expected_.load() > 0) ring_for_all();
}

// Makes this side handle messages at once: those to come, and those that have come.
void ShmLink::ring_for_all() noexcept {
  std::uint32_t later = ShmRing::kLater;
  if (incoming_.reader.compare_exchange_strong(later, ShmRing::kRing) && incoming_.unread() != 0) ring_here();
}

bool ShmLink::read() {
  if (receive(Handlers::in_pool) > 0) {
    spin_.came_later();
    return true;
  }
  return !role_.taken() && spin_.until([this] { return incoming_.unread() != 0; });
}

std::size_t ShmLink::receive(Handlers handlers, std::size_t most) {
  std::size_t count = 0;
  Batch batch(*this);
  for (bool more = true; more && count < most && role_.enter();) count += receive_some(handlers, most - count, more);
  return count;
}

// The caller has the role of the receiver, which this gives up. It handles up to `most` messages, and stops after one
// that has a handler, which it runs.
std::size_t ShmLink::receive_some(Handlers handlers, std::size_t most, bool& more) {
  Receiving<ShmLink> receiving(role_, *this);
  std::size_t count = 0;
  Runnable handler;
  try {
    do {
      maintain();
      Message message;
      more = !broken_ && reader_.next(message);
      if (reader_.release()) ring_there();
      if (!more) break;
      if (++count == 2) ring_later();
      handler = connection_->on_message(std::move(message));
    } while (!handler && count < most && receiving.has_role());
  } catch (const std::exception& problem) {
    broken_ = true;
    connection_->refuse(problem);
  }
  if (!receiving.has_role()) {
    more = false;  // this thread had to wait, and another has the role
  } else {
    const bool unread = incoming_.unread() != 0;
    if (receiving.leave()) {
      more = true;
      if (handler) ring_here();
    }
    if (count >= 2) ring_again();
    if (handler && handlers == Handlers::here) Receivers::before_handler(unread);
  }
  if (handlers == Handlers::here) {
    handler.run();
  } else if (handler) {
    handler.run_in(pool_);
  }
  return count;
}

void ShmLink::maintain() {
  returns_->go_on();
  if (taker_.any()) take_back();
  if (!broken_ && malformed_.load(std::memory_order_relaxed)) {
    throw Error(ErrorKind::failed, "malformed message: it returns an array that it does not have");
  }
  if (owes_.load(std::memory_order_relaxed) && !Batch::current()->owes()) pay();  // the owing thread takes long
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

// Any thread that comes by may call this.
void ShmLink::take_back() noexcept {
  std::vector<Buffer> returned;  // dropped outside the lock
  const std::lock_guard lock(sending_);
  take_back_locked(returned);
}

void ShmLink::take_back(std::vector<Buffer>& returned) noexcept {
  if (!taker_.any()) return;
  if (const std::unique_lock lock(sending_, std::try_to_lock); lock.owns_lock()) take_back_locked(returned);
}

// When the neighbour gives back leases that it does not have, the receiving thread ends the link.
void ShmLink::take_back_locked(std::vector<Buffer>& returned) noexcept {
  try {
    for (std::uint64_t lease = 0; !malformed_ && taker_.take(lease);) returned.push_back(writer_.take_back(lease));
    if (taker_.release()) ring_there();
  } catch (const std::exception&) {
    malformed_ = true;
    ring_here();
  }
}

}  // namespace lp::rpc

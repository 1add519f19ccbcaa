#pragma once
// What two processes have going on over one link: the calls that one has made, in order, until each has its reply; and
// the calls that the other serves. One state machine for every kind of link. Shared by the network, by peers, and by
// the calls that must still reply; thread-safe.

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "lp/rpc/core/call.h"
#include "lp/rpc/core/call_slots.h"
#include "lp/rpc/link/link.h"
#include "lp/wire/envelope.h"

namespace lp::internal {

// Takes as long whichever byte is wrong.
bool equal_secrets(const std::string& a, const std::string& b);

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  static constexpr std::size_t kCallLimit = CallSlots<Pending*>::kLimit;  // calls without a reply
  static constexpr std::size_t kByteLimit = std::size_t{4} << 30;         // and their bytes

  Connection(Hub& hub, std::unique_ptr<Link> link) : hub_(hub), link_(std::move(link)) {}
  ~Connection();

  // Says hello, as the side that dialed does first. Calls wait for the welcome.
  void greet();

  // The caller's side. start takes over a reference of the call's state, unless the connection is closed: then false.
  bool start(Pending& call);
  void cancel(Pending& call);
  // The reply is wanted at once.
  void expect(Pending& call);
  void grant(Pending& call, std::uint64_t items);
  // Asks what keeps it from its reply.
  void inquire(Pending& call) noexcept;
  // The node at the other end is gone: its calls end or go to its next incarnation.
  void lose(Peer& peer);
  // It takes calls, though perhaps only to say that we were refused.
  bool open() const;

  // The callee's side.
  void serve(std::uint64_t call, Ref<StateBase> state);
  void reply(PacketKind kind, std::uint64_t call, Frames frames);
  void reply(std::uint64_t call, const Error& error);
  // The callee ended first. When the run ends the caller hears of that itself.
  void reply_lost(std::uint64_t call, bool may_have_run);
  // The caller does not take its replies as fast as they are made. Then a call whose turn has come is held until it has
  // taken some, and so are those behind it; after one that was held has run, go_on must follow.
  enum class Hold : std::uint8_t { no, held, was_held };
  Hold hold(Call& call) noexcept {
    return !holding_.load(std::memory_order_relaxed) && !link_->full() ? Hold::no : hold_if_full(call);
  }
  void go_on() noexcept;
  // So many bytes of a one-way call that did not ask wait here no more.
  void taken(std::size_t bytes) noexcept;
  // The link is not full any more.
  void drained() noexcept;

  // A message came: in the order in which they came, in a thread of the link. What this returns is a handler that has
  // its turn, for the link to run. Throws Error when the message is malformed, and the link should be dropped.
  [[nodiscard]] Runnable on_message(Frames message);
  // The link is no more: every call is lost.
  void close();
  // The other side has ended. What was sent stays until the supervisor says whether its node is gone or only stops.
  void sever();
  // The other side is a stranger, or says what nobody understands: counts it and closes.
  void refuse();

  Link& link() { return *link_; }

 private:
  Hold hold_if_full(Call& call) noexcept;
  void resume(std::unique_lock<std::mutex> lock) noexcept;
  // A call that waits until its callee has room, or behind one of the same caller and callee.
  struct Asking {
    Pending* call;
    bool asked;
    bool granted;
  };
  // With the lock; those sent one way are to be ended without it:
  void transmit(Pending& call, bool granted = false);
  void transmit_or_ask(Pending& call, std::vector<Pending*>& sent_one_way);
  void transmit_more(std::vector<Pending*>& sent_one_way);
  void add(Pending& call);  // to pending_
  bool has_window(const Pending& call) const;
  void ask(Asking& asking);
  static void end_one_way(const std::vector<Pending*>& sent);
  std::vector<Pending*> take_unsent_one_way();
  std::vector<Pending*> end();  // what was still going on
  void forget(Pending& call);   // which is in pending_ no more
  Runnable on_call(Frames message, bool one_way);
  void on_reply(PacketKind kind, const Frames& message);
  void on_signal(PacketKind kind, const Frames& message);
  void on_inquiry(std::uint64_t call);
  void on_standings(const Frames& message);
  void on_ask(const Frames& message);
  void on_room(std::uint64_t call);
  void on_taken(std::size_t bytes);
  void grant(std::uint64_t call, Budget::Share share);
  std::unique_ptr<Room> room_of(const Frames& message, std::uint64_t call, bool one_way);
  void on_hello(const Frames& message);
  void on_welcome();
  void on_refusal(std::string text);
  void fail_refused(Pending& call);  // without the lock

  Hub& hub_;
  const std::unique_ptr<Link> link_;
  // Whoever loses calls has it until their peers know: those that go to the next incarnation are held there before a
  // way to it is open, so that none that was made later comes before them. Locked before mutex_.
  std::mutex losing_;
  mutable std::mutex mutex_;
  enum class Phase : std::uint8_t { greeting, open, refused, closed };
  std::atomic<Phase> phase_ = Phase::greeting;  // changes with the lock
  std::string refusal_;                         // what the other side said, when it refused us
  bool refused_ = false;                        // and counted; of the thread that receives
  std::size_t bytes_ = 0;                       // of the pending calls
  CallSlots<Pending*> pending_;
  std::vector<Pending*> unsent_;  // until the welcome; those with a reply are in pending_ too
  std::size_t window_used_ = 0;   // bytes on their way that did not ask
  std::deque<Asking> asking_;     // in order; those with a reply, and those that have asked, are in pending_ too
  CallSlots<Ref<StateBase>> served_;
  std::map<std::uint64_t, Budget::Share> asked_;  // by the other side; with the room, when it has that
  std::atomic<std::size_t> asks_ = 0;             // how many
  std::size_t taken_ = 0;                         // bytes that the other side is still to be told of
  std::deque<Call*> held_;                        // in order
  const Call* next_ = nullptr;                    // was held, and is to run now
  bool running_ = false;                          // it does
  std::atomic<bool> holding_ = false;
};

}  // namespace lp::internal

#pragma once
// The traffic of two processes over one link: the calls that one has made, in order, until each has its reply, and the
// calls that the other serves. One state machine serves every kind of link. Shared by the network, by peers, and by the
// calls that must still reply; thread-safe.

#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
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

namespace lp::rpc {

// Compares two secrets in a time that does not depend on which byte is wrong.
bool equal_secrets(const std::string& a, const std::string& b);

class Connection final : public std::enable_shared_from_this<Connection>, public MessageReceiver {
 public:
  static constexpr std::size_t kCallLimit = CallSlots<ClientCall*>::kLimit;  // largest number of calls without a reply
  static constexpr std::size_t kByteLimit = std::size_t{4} << 30;            // largest number of their bytes

  Connection(LocalProcess& process, std::unique_ptr<Link> link) : process_(process), link_(std::move(link)) {}
  ~Connection();

  // Sends the hello, with which the dialing side begins. Calls wait for the welcome.
  void greet();

  // The caller's side. start takes over a reference of the call's state. If the connection is closed, it takes nothing
  // and returns false.
  bool start(ClientCall& call);
  void cancel(ClientCall& call);
  // Notes that the reply is wanted at once.
  void expect(ClientCall& call);
  void grant(ClientCall& call, std::uint64_t items);
  // Asks the other end what keeps the call from its reply.
  void inquire(ClientCall& call) noexcept;
  // Ends the calls to a node that is gone at the other end, or passes them to its next incarnation.
  void lose(Peer& peer, Loss loss);
  // Adds the calls that this process waits for, at most `most`.
  void add_calls(std::vector<OpenCall>& all, std::size_t most) const;
  // Whether the connection takes calls, though perhaps only to refuse them.
  bool open() const;

  // The callee's side.
  void serve(std::uint64_t call, Ref<StateBase> state);
  void reply(PacketKind kind, std::uint64_t call, Message message);
  void reply(std::uint64_t call, const Error& error);
  // Replies that the callee ended first. When the run ends, no reply follows: the caller is stopped itself.
  void reply_lost(std::uint64_t call, bool may_have_run);
  // The caller may take its replies more slowly than they are made. Then a call whose turn has come is held until the
  // caller has taken some, and so are the calls behind it. After a held call has run, go_on must follow.
  enum class Hold : std::uint8_t { no, held, was_held };
  Hold hold(ServerCall& call) noexcept {
    return !holding_.load(std::memory_order_relaxed) && !link_->full() ? Hold::no : hold_if_full(call);
  }
  void go_on() noexcept;
  // Notes that this many bytes of a one-way call that did not ask no longer wait here.
  void taken(std::size_t bytes) noexcept;
  // Notes that the link is not full any more.
  void drained() noexcept;

  // Takes the next message, in the order of arrival, in a thread of the link. Returns a handler or a continuation that
  // has its turn, for the link to run. Throws Error when the message is malformed, and the link should be dropped.
  [[nodiscard]] Runnable on_message(Message message);
  // Ends the connection with its link: every call is lost, though the nodes at the other side may live on.
  void close();
  // Notes that the other side has ended. Calls that were sent stay until the supervisor reports whether the node is
  // gone or only stops.
  void sever();
  // A message of the other side cannot be handled, for this reason, and closes the connection. The other side is a
  // stranger, or sends malformed messages, and is counted; or there is no memory for the message (std::bad_alloc), and
  // the calls fail, since the message may have been the reply of any.
  void refuse(const std::exception& problem) noexcept;

  Link& link() { return *link_; }
  bool opens(std::uint64_t place) const override { return link_->opens(place); }

 private:
  Hold hold_if_full(ServerCall& call) noexcept;
  void resume(std::unique_lock<std::mutex> lock) noexcept;
  // A call that waits until its callee has room, or behind one of the same caller and callee.
  struct Asking {
    ClientCall* call;
    bool asked;
    bool granted;
  };
  // These hold the lock. The one-way calls that they return in sent_one_way must be ended without the lock.
  void transmit(ClientCall& call, bool granted = false);
  void transmit_or_ask(ClientCall& call, std::vector<ClientCall*>& sent_one_way);
  void transmit_more(std::vector<ClientCall*>& sent_one_way);
  void add(ClientCall& call);  // adds to pending_
  bool has_window(const ClientCall& call) const;
  void ask(Asking& asking);
  static void end_one_way(const std::vector<ClientCall*>& sent);
  std::vector<ClientCall*> take_unsent_one_way();
  std::vector<ClientCall*> end();  // returns the calls that were still going on
  void forget(ClientCall& call);   // the call is no longer in pending_
  Runnable on_call(Message message, bool one_way);
  void on_reply(PacketKind kind, const Message& message);
  void on_signal(PacketKind kind, const Message& message);
  void on_inquiry(std::uint64_t call);
  void on_wait_chain(const Message& message);
  void on_ask(const Message& message);
  void on_room(std::uint64_t call);
  void on_taken(std::size_t bytes);
  void grant(std::uint64_t call, Budget::Share share);
  std::unique_ptr<Room> room_of(const Message& message, std::uint64_t call, bool one_way);
  void on_hello(const Message& message);
  void on_welcome();
  void on_refusal(std::string text);
  void fail_refused(ClientCall& call);  // called without the lock
  void fail_all(const Error& error);

  LocalProcess& process_;
  const std::unique_ptr<Link> link_;
  // A thread that loses calls holds this lock until their peers know. Calls for the next incarnation are held there
  // before a way to it is open, so that no later call comes before them. Locked before mutex_.
  std::mutex losing_;
  mutable std::mutex mutex_;
  enum class Phase : std::uint8_t { greeting, open, refused, closed };
  std::atomic<Phase> phase_ = Phase::greeting;  // changes under the lock
  std::string refusal_;                         // the text with which the other side refused this one
  bool refused_ = false;   // this side refused the other and counted it; used by the receiving thread
  std::size_t bytes_ = 0;  // bytes of the pending calls
  CallSlots<ClientCall*> pending_;
  std::vector<ClientCall*> unsent_;  // calls until the welcome; those with a reply are in pending_ too
  std::size_t window_used_ = 0;      // bytes that did not ask and are on their way
  std::deque<Asking> asking_;        // in order; calls with a reply, and calls that have asked, are in pending_ too
  CallSlots<Ref<StateBase>> served_;
  std::map<std::uint64_t, Budget::Share> asked_;  // requests of the other side, with their room once they have it
  std::atomic<std::size_t> asks_ = 0;             // size of asked_
  std::size_t taken_ = 0;                         // bytes that are still to be reported to the other side
  std::deque<ServerCall*> held_;                  // held calls, in order
  const ServerCall* next_ = nullptr;              // a call that was held and runs next
  bool running_ = false;                          // next_ runs now
  std::atomic<bool> holding_ = false;
};

}  // namespace lp::rpc

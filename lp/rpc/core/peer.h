#pragma once
// One node of the program as its callers see it: here, in another process, or not up at the moment. Calls to a node
// that is not up are held for its next incarnation. Owned by the LocalProcess; thread-safe.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lp/rpc/core/budget.h"
#include "lp/rpc/core/call.h"

namespace lp::rpc {

class Peer {
 public:
  static constexpr std::size_t kHeldLimit = 1 << 16;  // calls that wait for the next incarnation

  Peer(LocalProcess& process, NodeId id) : process_(process), id_(id) {}
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  LocalProcess& process() const { return process_; }
  NodeId id() const { return id_; }

  // Returns the node's core when it serves in this process now and no call is held for it, otherwise null. The core
  // stays valid until the run ends.
  ServiceInstance* local() const noexcept { return local_.load(std::memory_order_acquire); }

  // Whether a call would go to the node now; else it would be held, or refused.
  bool up() const;

  // The calls that queue at the node, if it is here, and the calls that wait to leave for it.
  Budget::Account& queue() { return queue_; }
  Budget::Account& leaving() { return leaving_; }

  // Take news of the node. Calls to an older incarnation that were sent and are unanswered end, or are sent again
  // before those that were made later.
  void up_here(ServiceInstance& core);
  void down_here(ServiceInstance& core);
  // The node is in another process, which is dialed there. It is dialed again when the connection has ended and the
  // node has not. `key` is the public key of that process, if the run has keys.
  void up_elsewhere(std::uint32_t incarnation, const std::string& endpoint, const std::string& key = "");
  // Takes the way to that incarnation, or the reason why there is none. No effect when there are other news already.
  void connected(std::uint32_t incarnation, std::shared_ptr<Connection> connection);
  void unreachable(std::uint32_t incarnation, const Error& error);
  // The connection broke. If no news of the node follow, it is dialed again.
  void broken(const Connection& connection) noexcept;
  void down(std::uint32_t incarnation);
  void gone(const std::string& text);
  void close(const Error& error);  // the run ends

  // Queues a call of this process at the node, now or when it is up. Takes over one reference.
  void accept_local(ServerCall& call, const MethodInfo& info);
  // Sends a call again whose node ended before it began. Returns false when the run ends.
  bool resend_local(ServerCall& call, const MethodInfo& info) noexcept;
  // Sends a call as bytes. Takes over one reference.
  void send(ClientCall& call);
  // Notes that the caller of `call` gave up.
  void forget(ClientCall& call) noexcept;
  // Notes that the reader of a stream takes more items.
  void grant(ClientCall& call, std::uint64_t items) noexcept;

  // Adds the calls that are held for the node, at most `most`.
  void add_held(std::vector<OpenCall>& all, std::size_t most) const;
  // Returns the connection to the node's present process; null when the node is here or not up.
  std::shared_ptr<Connection> connection() const;

  // Notes that this incarnation takes no more calls.
  void ending(std::uint32_t incarnation) noexcept;
  // A connection lost `call` and passes its reference: the call is tried again, or ends. A call that may be what breaks
  // the connections is tried only a few times.
  void lost(ClientCall& call, bool may_have_run, Loss loss) noexcept;

  // Returns the error of a call that was running when its node ended.
  Error lost_error(const MethodInfo& info, const CallScope& scope, Loss loss = Loss::node_ended) const;
  Error late_error(const MethodInfo& info, const CallScope& scope, bool may_have_run) const;

 private:
  struct Held {
    ClientCall* pending = nullptr;  // one of `pending` and `call` is set, with a reference
    ServerCall* call = nullptr;
    const MethodInfo* info = nullptr;

    const CallScope& scope() const { return call != nullptr ? call->scope() : pending->scope(); }
    const Caller& caller() const { return call != nullptr ? call->caller() : pending->caller(); }
    std::uint64_t& order() const { return call != nullptr ? call->order : pending->order; }
  };
  // The way that a call can take now. Without one the call is held.
  struct Way {
    ServiceInstance* core = nullptr;
    std::shared_ptr<Connection> connection{};

    explicit operator bool() const { return core != nullptr || connection != nullptr; }
  };

  void redial(std::uint32_t incarnation);
  void accept(Held held) noexcept;  // takes a call that its caller makes now
  // Returns false when the call must be held after all.
  bool deliver(const Way& way, const Held& held) noexcept;
  void fail(const Held& held, const Error& error) const noexcept;
  void end(std::unique_lock<std::mutex> lock, const Error& error);
  Error gone_error(const std::string& text) const;
  // The caller holds the lock:
  bool reachable() const;
  Way way(const Held& held) const;
  void keep(const Held& held);
  void redial_later();
  bool lost_its_way() const;
  bool awaits(std::uint32_t incarnation) const { return incarnation == incarnation_ && closed_ == nullptr; }
  void reopen();  // a node that had gone is started again after all
  void accept_at(ServiceInstance& core, ServerCall& call, const MethodInfo& info) noexcept;
  void accept_bytes_at(ServiceInstance& core, ClientCall& call) noexcept;
  void hold_or_fail(Held held) noexcept;
  // Whether the incarnation that made this call has ended. Its next incarnation makes its own calls: a call that is
  // delivered for the dead one would change the service behind its back.
  bool has_lost_its_caller(const Held& held) const;
  // Delivers the held calls, in order, for as long as there is a way. A thread that finds another one delivering leaves
  // it to that one.
  void flush(std::unique_lock<std::mutex> lock) noexcept;
  ErrorOrigin place(const MethodInfo& info, const CallScope& scope) const;
  Error unimplemented(const MethodInfo& info) const;

  LocalProcess& process_;
  const NodeId id_;
  Budget::Account queue_;
  Budget::Account leaving_;
  std::atomic<ServiceInstance*> local_ = nullptr;
  mutable std::mutex mutex_;
  ServiceInstance* up_ = nullptr;  // value of local_ now, or when no call is held
  std::uint32_t incarnation_ = 0;
  std::uint32_t ended_ = 0;  // the incarnation that announced its own end
  std::string endpoint_;     // endpoint of the node elsewhere
  std::string key_;          // public key of its process
  std::shared_ptr<Connection> connection_;
  bool redials_ = false;                // a redial is scheduled
  std::map<std::uint64_t, Held> held_;  // the calls that are held, by the order in which they were made
  bool flushing_ = false;
  std::uint64_t last_order_ = 0;
  std::unique_ptr<Error> closed_;  // set: every call fails with it
};

}  // namespace lp::rpc

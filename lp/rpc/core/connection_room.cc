// The part of a Connection that bounds bytes: it decides which calls may leave and which ask first, and for how much
// the other side has room.
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "lp/rpc/core/budget.h"
#include "lp/rpc/core/connection.h"
#include "lp/rpc/core/local_process.h"
#include "lp/rpc/core/peer.h"
#include "lp/rpc/core/service_instance.h"
#include "lp/wire/envelope.h"

namespace lp::rpc {

bool Connection::has_window(const ClientCall& call) const {
  if (call.size < Budget::kSmall || (call.awaited && link_->shares_memory())) return true;
  return window_used_ + call.size <= process_.window();
}

void Connection::transmit_or_ask(ClientCall& call, std::vector<ClientCall*>& sent_one_way) {
  if (asking_.empty() && has_window(call)) {
    transmit(call);
    if (call.one_way()) sent_one_way.push_back(&call);
    return;
  }
  call.delayed = true;
  asking_.push_back({.call = &call, .asked = false, .granted = false});
  transmit_more(sent_one_way);
}

// Sends the calls that have room, unless they have to keep the order behind a call of the same caller and callee that
// has none.
void Connection::transmit_more(std::vector<ClientCall*>& sent_one_way) {
  std::vector<std::pair<const Peer*, NodeId>> blocked;
  for (auto one = asking_.begin(); one != asking_.end();) {
    ClientCall& call = *one->call;
    const std::pair<const Peer*, NodeId> way(&call.peer(), call.caller().node);
    const bool ordered = call.info().traits.ordered();
    const bool behind = ordered && std::find(blocked.begin(), blocked.end(), way) != blocked.end();
    if (behind || !(one->granted || (!one->asked && has_window(call)))) {
      if (ordered && !behind) blocked.push_back(way);
      if (!one->asked && !has_window(call)) ask(*one);
      ++one;
      continue;
    }
    if (call.one_way() && one->asked) {
      pending_.take(call.call);
      forget(call);
    }
    transmit(call, one->granted);
    if (call.one_way()) sent_one_way.push_back(&call);
    one = asking_.erase(one);
  }
}

void Connection::ask(Asking& asking) {
  ClientCall& call = *asking.call;
  if (call.one_way()) add(call);
  asking.asked = true;
  if (!std::exchange(call.expected, true)) link_->expect();
  link_->send(
      ask_packet({.call = call.call, .bytes = call.size, .node = call.peer().id(), .incarnation = call.incarnation}));
}

// Handles a request of the other side: it has a large call, or many calls, for a service of this process.
void Connection::on_ask(const Message& message) {
  const AskHead head = read_ask(message);
  if (head.node >= process_.size()) throw Error(ErrorKind::failed, "malformed message: its node does not exist");
  Peer& peer = process_.peer(head.node);
  ServiceInstance* const node = peer.local();
  if (node == nullptr || node->stopping() || head.incarnation != node->incarnation()) {
    return reply(head.call, Error(ErrorKind::disconnected, "this incarnation of the node is not in this process"));
  }
  {
    const std::lock_guard lock(mutex_);
    if (asked_.size() >= kCallLimit)
      throw Error(ErrorKind::failed, "malformed message: it asks for more bytes than allowed");
    if (asked_.try_emplace(head.call).second) ++asks_;
  }
  process_.incoming().ask(peer.queue(), head.bytes, [weak = weak_from_this(), call = head.call](Budget::Share share) {
    if (const auto self = weak.lock()) self->grant(call, std::move(share));
  });
}

void Connection::grant(std::uint64_t call, Budget::Share share) {
  const std::lock_guard lock(mutex_);
  const auto asked = asked_.find(call);
  if (asked == asked_.end()) return;  // its caller gave up: `share` is destroyed after the lock is released
  asked->second = std::move(share);
  if (phase_ == Phase::open) link_->send(signal_packet(PacketKind::room, {.call = call}));
}

void Connection::on_room(std::uint64_t number) {
  std::vector<ClientCall*> sent_one_way;
  {
    const std::lock_guard lock(mutex_);
    const auto asking = std::find_if(asking_.begin(), asking_.end(),
                                     [&](const Asking& one) { return one.asked && one.call->call == number; });
    if (asking == asking_.end()) {
      link_->send(signal_packet(PacketKind::cancel, {.call = number}));  // the call was lost, and goes another way
    } else {
      asking->granted = true;
    }
    transmit_more(sent_one_way);
  }
  end_one_way(sent_one_way);
}

// Returns the room of a call that came, which it has until it begins.
std::unique_ptr<Room> Connection::room_of(const Message& message, std::uint64_t call, bool one_way) {
  if (asks_.load(std::memory_order_relaxed) != 0 && call != 0) {
    const std::lock_guard lock(mutex_);
    if (const auto asked = asked_.find(call); asked != asked_.end()) {
      auto room = std::make_unique<Room>(std::move(asked->second));
      asked_.erase(asked);
      --asks_;
      return room;
    }
  }
  if (!one_way || message.size() < Budget::kSmall) return nullptr;
  return std::make_unique<Room>(shared_from_this(), message.size());
}

// Reports the bytes to the other side from time to time.
void Connection::taken(std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  taken_ += bytes;
  if (taken_ < process_.window() / 4 || phase_ != Phase::open) return;
  link_->send(signal_packet(PacketKind::taken, {.amount = std::exchange(taken_, 0)}));
}

void Connection::on_taken(std::size_t bytes) {
  std::vector<ClientCall*> sent_one_way;
  {
    const std::lock_guard lock(mutex_);
    window_used_ -= std::min(bytes, window_used_);
    transmit_more(sent_one_way);
  }
  end_one_way(sent_one_way);
}

}  // namespace lp::rpc

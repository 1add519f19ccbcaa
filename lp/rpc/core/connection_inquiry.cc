// Inquiries about a call without a reply: the caller asks, and the callee answers with the work that it does.

#include <utility>

#include "lp/rpc/core/connection.h"
#include "lp/rpc/core/hub.h"
#include "lp/wire/envelope.h"

namespace lp::internal {

void Connection::inquire(Pending& call) noexcept {
  const std::lock_guard lock(mutex_);
  Pending** const found = pending_.find(call.call);
  if (phase_ != Phase::open || found == nullptr || *found != &call || !call.sent.load()) return;
  link_->send(signal_packet(PacketKind::inquiry, {.call = call.call}));
}

void Connection::on_inquiry(std::uint64_t call) {
  Ref<StateBase> state;
  {
    const std::lock_guard lock(mutex_);
    const Ref<StateBase>* const found = served_.find(call);
    if (found == nullptr) return;  // answered meanwhile
    state = *found;
  }
  Standings all;
  state->add_obstacles(all);
  if (all.empty()) return;
  Frames answer = standings_packet(call, all);
  const std::lock_guard lock(mutex_);
  if (phase_ == Phase::open) link_->send(std::move(answer));
}

void Connection::on_standings(const Frames& message) {
  ReplyHead head;
  read_reply(message, head);
  Standings all = read_standings(message);
  for (const Standing& one : all) {
    if (one.node >= hub_.size()) throw Error(ErrorKind::failed, "malformed message: a node of it does not exist");
  }
  Ref<StateBase> state;  // released outside the lock
  Pending* call = nullptr;
  {
    const std::lock_guard lock(mutex_);
    Pending** const found = pending_.find(head.call);
    if (found == nullptr) return;  // its caller gave up
    call = *found;
    state = Ref<StateBase>::share(call);
  }
  call->note_obstacles(std::move(all));
}

}  // namespace lp::internal

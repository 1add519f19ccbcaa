#pragma once
// Messages for one node, from any node that has its handle. Each message is taken once, in the order of arrival.
//
//   auto inboxes = program.group<lp::Mailbox<Message>>({.name = "inbox", .replicas = n}, std::size_t{1000});
//
//   inboxes[to].call<&lp::Mailbox<Message>::put>(message);              // waits for room
//   const auto next = inboxes[index].call<&lp::Mailbox<Message>::take>();  // waits for a message
//
// Nodes: their handlers run in their turn.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

#include "lp/base/error.h"
#include "lp/checkpoint/checkpoint.h"
#include "lp/program/context.h"
#include "lp/rpc/core/future.h"
#include "lp/rpc/core/method.h"

namespace lp {

// A restarted Mailbox is empty.
template <Sendable T>
class Mailbox {
 public:
  static constexpr Interval kLongestWait = 600_s;  // Client::within changes it

  // Error::failed when there is no room for a message.
  explicit Mailbox(std::size_t room) : room_(room) {
    if (room == 0) throw Error(ErrorKind::failed, "a mailbox has no room for messages: give it room for at least one");
  }

  // Ready when there is room for the message.
  Future<void> put(T message) {
    putting_.emplace_back(std::move(message), Promise<void>());
    Future<void> done = putting_.back().second.future();
    settle();
    return done;
  }
  // The oldest message. Ready as soon as there is one.
  Future<T> take() {
    taking_.emplace_back();
    Future<T> message = taking_.back().future();
    settle();
    return message;
  }
  std::size_t size() const { return messages_.size(); }

  using Remote = Methods<deadline<once<&Mailbox::put>, kLongestWait>, deadline<once<&Mailbox::take>, kLongestWait>,
                         &Mailbox::size>;

 protected:
  std::deque<T> messages_{};  // delivered, and not taken yet

 private:
  void settle() {
    while ((!messages_.empty() || !putting_.empty()) && !taking_.empty()) {
      admit();
      taking_.front().set_value(std::move(messages_.front()));
      messages_.pop_front();
      taking_.pop_front();
    }
    admit();
  }
  void admit() {
    while (!putting_.empty() && messages_.size() < room_) {
      messages_.push_back(std::move(putting_.front().first));
      putting_.front().second.set_value();
      putting_.pop_front();
    }
  }

  const std::size_t room_;
  std::deque<std::pair<T, Promise<void>>> putting_{};  // puts that wait for room
  std::deque<Promise<T>> taking_{};
};

// A Mailbox that takes part in the program's cuts. The node that takes the messages calls cut(), at the steps of its
// own cuts.
template <Sendable T>
class SavedMailbox final : public Mailbox<T> {
 public:
  SavedMailbox(Context& context, std::size_t room) : Mailbox<T>(room), context_(context) {}

  void cut(std::uint64_t step) { context_.checkpoint(step); }
  void save(Checkpoint& out) const { out.put("messages", this->messages_); }
  void load(const Checkpoint& in) { this->messages_ = in.get<std::deque<T>>("messages"); }

  using Remote = Methods<deadline<once<&SavedMailbox::put>, Mailbox<T>::kLongestWait>,
                         deadline<once<&SavedMailbox::take>, Mailbox<T>::kLongestWait>, &SavedMailbox::size,
                         idempotent<&SavedMailbox::cut>>;

 private:
  Context& context_;
};

}  // namespace lp

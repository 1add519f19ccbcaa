#pragma once
// A client of a group whose replicas all give the same answers: it sends each request to the replica with the fewest
// requests under way. A replica that is gone is left out until it is back, and one that is slow gets less.
//
//   const lp::Balancer<Digits> servers(group);  // an lp::Clients<Digits>
//   const auto answer = servers.within(std::chrono::milliseconds(20)).call<&Digits::ask>(image, 0U);
//
// A request that is lost with its replica goes to another one, and to each at most once. One that its replica refuses
// with `overloaded` goes to another one only if that has refused nothing lately: when all have too much to do, requests
// that are repeated would be more work for all. So call only methods that may run again, and that lp does not send
// again itself: with lp::once and lp::idempotent a call waits for the restart of its own replica.
//
// A caller may send more requests by async() than it can take answers, from servers that say how long they had each
// (Answer::took). Then requests of within() get `overloaded` here, before they are sent, once their answers would be
// used too late.
//
// A value: copies, such as that of within(), count together. Any thread of its node may use it; outside a node the
// continuations of async() run in the threads that bring the replies.

#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "lp/rpc/clients.h"
#include "lp/rpc/core/future.h"
#include "nodes/serving/answer_delay.h"
#include "nodes/serving/least_outstanding.h"

namespace lp {

template <class S>
class Balancer {
 public:
  // Error::failed for an empty group.
  explicit Balancer(const Clients<S>& replicas) : state_(std::make_shared<State>(replicas)) {}

  // This balancer with another time limit for each request than the method's, all replicas that it goes to together.
  Balancer within(Duration timeout) const {
    Balancer other = *this;
    other.timeout_ = timeout;
    return other;
  }

  // Calls and waits. Throws the last replica's Error.
  template <auto M, class... Args>
  auto call(const Args&... args) const {
    for (Request request(state_, timeout_);;) {
      const Client<S> client = request.next();
      try {
        if constexpr (std::is_void_v<decltype(client.template call<M>(args...))>) {
          client.template call<M>(args...);
          return request.answered();
        } else {
          auto value = client.template call<M>(args...);
          request.answered();
          return value;
        }
      } catch (const Error& error) {
        request.failed(error);
      }
    }
  }

  template <auto M, class... Args>
  [[nodiscard]] auto async(const Args&... args) const {
    using Result = typename decltype(state_->clients[0].template async<M>(args...))::value_type;
    return ask<Result, M, Args...>(Request(state_, timeout_), args...);
  }

  std::vector<std::size_t> outstanding() const { return state_->load.outstanding(); }  // requests, by replica

 private:
  struct State {  // shared with the requests that are under way
    explicit State(const Clients<S>& replicas) : clients(replicas.begin(), replicas.end()), load(replicas.size()) {}

    std::vector<Client<S>> clients;
    LeastOutstanding load;
    AnswerDelay delay{};
  };

  // One request on its way from replica to replica.
  class Request {
   public:
    Request(std::shared_ptr<State> state, std::optional<Duration> timeout)
        : state_(std::move(state)), tried_(state_->clients.size()) {
      if (timeout) end_ = after(*timeout);
    }

    // Throws Error::overloaded when the caller is behind with its answers.
    void begin() {
      under_way_ = state_->load.all_outstanding() + 1;
      begun_ = now();
      if (end_) state_->delay.check(under_way_, *end_ - begun_);
    }
    Client<S> next() {
      if (!replica_) choose();
      const Client<S>& client = state_->clients[*replica_];
      return end_ ? client.within(until(*end_)) : client;
    }
    void answered() { leave(LeastOutstanding::End::answered); }
    void answered_after(Duration took) { state_->delay.answered(under_way_, now() - begun_, took); }
    // Goes on to another replica, or throws the error.
    void failed(const Error& error) {
      leave(end_by(error.kind()));
      const bool refused = error.kind() == ErrorKind::overloaded;
      if ((!refused && error.kind() != ErrorKind::disconnected) || !choose(refused)) throw Error(error);
    }

   private:
    static LeastOutstanding::End end_by(ErrorKind kind) {
      switch (kind) {
        case ErrorKind::overloaded: return LeastOutstanding::End::refused;
        case ErrorKind::deadline: return LeastOutstanding::End::late;
        case ErrorKind::disconnected: return LeastOutstanding::End::lost;
        default: return LeastOutstanding::End::answered;
      }
    }
    bool choose(bool only_good = false) {
      replica_ = state_->load.choose(
          tried_, [this](std::size_t one) { return state_->clients[one].up(); }, now(), only_good);
      if (replica_) tried_[*replica_] = true;
      return replica_.has_value();
    }
    void leave(LeastOutstanding::End end) { state_->load.done(*std::exchange(replica_, std::nullopt), end, now()); }

    std::shared_ptr<State> state_;
    std::vector<bool> tried_;
    std::optional<std::size_t> replica_{};
    std::optional<Time> end_{};
    Time begun_{};
    std::size_t under_way_ = 0;  // when it began, with itself
  };

  template <class Reply, auto M, class... Args>
  static Future<Reply> ask(Request request, Args... args) {
    for (request.begin();;) {
      const Client<S> client = request.next();
      try {
        Future<Reply> reply = client.template async<M>(args...);
        if constexpr (std::is_void_v<Reply>) {
          co_await reply;
          request.answered();
          co_return;
        } else {
          Reply value = co_await reply;
          request.answered();
          if constexpr (requires { Duration(value.took); }) request.answered_after(value.took);
          co_return value;
        }
      } catch (const Error& error) {
        request.failed(error);
      }
    }
  }

  std::shared_ptr<State> state_;
  std::optional<Duration> timeout_{};
};

}  // namespace lp

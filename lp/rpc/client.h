#pragma once
// A typed way to call one node: client.call<&ParameterServer::pull>(version). A Client is a value: cheap to copy,
// usable from any thread of its node as long as the run lasts.
//
// The arguments are converted to the method's own parameter types first; lvalues are copied, rvalues moved. A call
// whose service is in this process and idle runs on the caller's stack; every other call queues or travels. Errors are
// lp::Error.

#include <algorithm>
#include <concepts>
#include <utility>

#include "lp/rpc/core/edge.h"
#include "lp/rpc/core/future.h"
#include "lp/rpc/core/method.h"
#include "lp/rpc/stream_call.h"
#include "lp/rpc/typed_call.h"

namespace lp {
namespace rpc {

template <class S>
concept Complete = requires {
  sizeof(S);
};

// The compiler shows the template arguments of the function whose assertion fails.
template <std::size_t kNumber, class Given, class Parameter>
consteval bool check_argument() {
  static_assert(kArgumentFits<Given, Parameter>,
                "lp: an argument does not fit the method's parameter; its number, counted from 1, and both types are "
                "shown with this message as kNumber, Given and Parameter");
  return kArgumentFits<Given, Parameter>;
}
template <class... Given, std::size_t... I, class... P>
consteval bool check_arguments(std::type_identity<ArgumentList<std::index_sequence<I...>, P...>>) {
  return (check_argument<I + 1, Given, P>() && ...);
}

// Explains in one sentence what is wrong with a call, and only that.
template <class S, auto M, class... Given>
consteval bool can_call() {
  if constexpr (!Complete<S>) {
    static_assert(Complete<S>,
                  "lp: this class is only declared so far: a function that calls it stands after its definition");
    return false;
  } else if constexpr (!Service<S>) {
    static_assert(Service<S>, "lp: this class has no `using Remote = lp::Methods<...>;`");
    return false;
  } else if constexpr (!RemoteOf<S>::type::template contains<M>) {
    static_assert(RemoteOf<S>::type::template contains<M>, "lp: this method is not in the service's lp::Methods<...>");
    return false;
  } else {
    using Params = typename TypesOf<S, M>::Params;
    if constexpr (sizeof...(Given) != Params::size) {
      static_assert(sizeof...(Given) == Params::size, "lp: wrong number of arguments for this method");
      return false;
    } else if constexpr (!check_arguments<Given...>(std::type_identity<Params>{})) {
      return false;
    } else {
      return true;
    }
  }
}

// Calls and waits, for a result of type R.
template <class R>
R call_and_wait(Edge& edge, const MethodInfo& info, CallOptions options, void* arguments) {
  Slot<Stored<R>> result;
  if (!call_directly(edge, info, options, arguments, &result)) {
    options.awaited = true;
    return Future<R>(start_call(edge, info, options, arguments)).get();
  }
  if constexpr (!std::is_void_v<R>) return std::move(result.get());
}

template <class V>
V read_version(Edge& edge, const MethodInfo& info, const CallOptions& options) {
  Publication::Reading known;
  if (edge.peer().local() == nullptr) known = edge.versions().find(info.id);
  Arguments<VersionName> arguments = MakeArguments<Arguments<VersionName>>::from(known.name);
  V version = call_and_wait<V>(edge, info, options, &arguments);
  if (version.value() == nullptr) return {known.name, std::static_pointer_cast<typename V::Value>(known.value)};
  if (edge.peer().local() == nullptr) {
    // A copied value is kept, so that it need not come again. A value that lies at the service is not kept from it.
    edge.versions().put(info.id, {.name = version.name(), .value = version.value()}, !edge.shares_memory());
  }
  return version;
}

}  // namespace rpc

template <class S>
class Client {
 public:
  // Made by dereferencing a Handle.
  explicit Client(Edge& edge) : edge_(&edge) {}
  // A client of a service is also a client of the interface that it implements.
  template <class D>
    requires(std::derived_from<D, S> && !std::same_as<D, S>)
  Client(const Client<D>& other) : edge_(other.edge_), options_(other.options_) {}

  // Whether the node serves now, as far as this process knows. A call to a node that is not up waits for it.
  bool up() const { return edge_->peer().up(); }

  // Calls and waits. Throws Error.
  template <auto M, class... Args>
  auto call(Args&&... args) const {
    if constexpr (rpc::can_call<S, M, Args&&...>()) {
      using Types = rpc::TypesOf<S, M>;
      static_assert(!rpc::ReturnType<typename Types::Raw>::stream,
                    "lp: this method returns a Stream: client.stream<&S::method>(...)");
      auto arguments = rpc::MakeArguments<typename Types::Params>::from(std::forward<Args>(args)...);
      return rpc::call_and_wait<typename Types::Result>(*edge_, rpc::kMethodInfo<Types>, options_, &arguments);
    }
  }

  // Calls and returns an lp::Future: at once, or when there is room for the call (README.md, "Calls").
  template <auto M, class... Args>
  [[nodiscard]] auto async(Args&&... args) const {
    if constexpr (rpc::can_call<S, M, Args&&...>()) {
      using Types = rpc::TypesOf<S, M>;
      static_assert(!rpc::ReturnType<typename Types::Raw>::stream,
                    "lp: this method returns a Stream: client.stream<&S::method>(...)");
      auto arguments = rpc::MakeArguments<typename Types::Params>::from(std::forward<Args>(args)...);
      return Future<typename Types::Result>(rpc::start_call(*edge_, rpc::kMethodInfo<Types>, options_, &arguments));
    }
  }

  // Starts a call of a method that returns a Stream, and returns its lp::StreamReader.
  template <auto M, class... Args>
  [[nodiscard]] auto stream(Args&&... args) const {
    if constexpr (rpc::can_call<S, M, Args&&...>()) {
      using Types = rpc::TypesOf<S, M>;
      static_assert(rpc::ReturnType<typename Types::Raw>::stream, "lp: this method does not return a Stream");
      auto arguments = rpc::MakeArguments<typename Types::Params>::from(std::forward<Args>(args)...);
      return rpc::start_stream<typename Types::Result>(*edge_, rpc::kMethodInfo<Types>, options_, &arguments);
    }
  }

  // Returns the latest version that the service has published under this member (published.h). Throws Error.
  template <auto M>
  auto read() const {
    if constexpr (rpc::can_call<S, M, rpc::VersionName>()) {
      using Types = rpc::TypesOf<S, M>;
      return rpc::read_version<typename Types::Result>(*edge_, rpc::kMethodInfo<Types>, options_);
    }
  }

  // Sends a one-way call: returns when the call is on its way. Nobody learns how it ended. Throws `overloaded` when
  // there is no room and it may not wait for room, and `deadline` when no room came in time.
  template <auto M, class... Args>
  void send(Args&&... args) const {
    if constexpr (rpc::can_call<S, M, Args&&...>()) {
      using Types = rpc::TypesOf<S, M>;
      auto arguments = rpc::MakeArguments<typename Types::Params>::from(std::forward<Args>(args)...);
      rpc::send_call(*edge_, rpc::kMethodInfo<Types>, options_, &arguments);
    }
  }

  // Returns this client with another time limit for each call than the method's. The time left of the current handler
  // still bounds it. With a timeout of 0 or less, calls end with Error::deadline and do not run.
  Client within(Duration timeout) const {
    Client other = *this;
    other.options_.timeout = std::max(timeout, rpc::CallOptions::kNoTime);
    return other;
  }

  // Returns this client for code that must not wait: `async` and `send` end with `overloaded` where there is no room,
  // as they do in a handler.
  Client at_once() const {
    Client other = *this;
    other.options_.at_once = true;
    return other;
  }

  // Returns this client for a caller that waits for the replies before it makes more data. Such calls leave without
  // waiting for room, as those of `call` do, and do not count as bytes that wait.
  Client awaited() const {
    Client other = *this;
    other.options_.awaited = true;
    return other;
  }

  // Returns this client for one call of a `once` method under a number of the program's own, such as a step. The number
  // must grow from call to call: a node that was restarted and does the step again does not run the method twice.
  Client numbered(std::uint64_t number) const {
    Client other = *this;
    other.options_.number = number | rpc::Caller::kGiven;
    return other;
  }

 private:
  template <class>
  friend class Client;
  Edge* edge_;
  rpc::CallOptions options_{};
};

// True when client.call<M>(args...) compiles. For tests and for constraints of your own.
template <class S, auto M, class... Args>
concept Accepts = Service<S> &&
    RemoteOf<S>::type::template contains<M>&& rpc::kArgumentsFit<typename rpc::TypesOf<S, M>::Params, Args...>;

}  // namespace lp

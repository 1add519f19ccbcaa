#pragma once
// A typed way to call one node: client.call<&ParameterServer::pull>(version). A Client is a value: cheap to copy,
// usable from any thread of its node as long as the run lasts.
//
// The arguments are converted to the method's own parameter types first; lvalues are copied, rvalues moved. A call
// whose service is in this process and idle runs on the caller's stack; every other call queues or travels. Errors are
// lp::Error.

#include <concepts>
#include <utility>

#include "lp/rpc/edge.h"
#include "lp/rpc/future.h"
#include "lp/rpc/method.h"
#include "lp/rpc/stream_call.h"
#include "lp/rpc/typed_call.h"

namespace lp {
namespace internal {

// Says in one sentence what is wrong with a call, and only that.
template <class S, auto M, class... Given>
consteval bool can_call() {
  if constexpr (!Service<S>) {
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
    } else if constexpr (!kArgumentsFit<Params, Given...>) {
      static_assert(kArgumentsFit<Params, Given...>, "lp: these arguments do not fit the method's parameters");
      return false;
    } else {
      return true;
    }
  }
}

// Calls of one signature.
template <class Raw, class... P>
struct CallTypes {
  using R = ResultOfRaw<Raw>;
  using Params = Arguments<P...>;

  // Starts a call that queues or travels.
  static Future<R> start(Edge& edge, const MethodInfo& info, const CallOptions& options, Params&& params) {
    const Outgoing outgoing = outgoing_call(edge, info, options);
    if (edge.goes_as_bytes()) {
      const Ref<RemoteCall<R>> call(new RemoteCall<R>(outgoing, /*one_way=*/false));
      encode_params(call->frames, Pending::front(outgoing.scope.path), params);
      call->retain();
      outgoing.peer.send(*call);
      return Future<R>(Ref<StateBase>::share(call.get()));
    }
    auto* call = new TypedCall<Raw, P...>(outgoing, std::move(params));
    Future<R> future(Ref<StateBase>::share(call));
    outgoing.peer.accept_local(*call, info);
    return future;
  }

  static R call(Edge& edge, const MethodInfo& info, CallOptions options, Params&& params) {
    if constexpr (ReturnType<Raw>::plain) {
      if (DirectCall direct(edge, info, edge.hub().timeout(options.timeout, info)); direct) {
        Slot<Stored<R>> result;
        if (invoke(direct, params, result.address())) {
          result.filled();
          direct.check_deadline();
          if constexpr (std::is_void_v<R>) {
            return;
          } else {
            return std::move(result.get());
          }
        }
        options.timeout = direct.left();
      }
    }
    return start(edge, info, options, std::move(params)).get();
  }

  static bool invoke(DirectCall& direct, Params& params, void* result) {
    if constexpr (std::is_copy_constructible_v<Params>) {
      if (direct.retries()) {
        Params copy(params);
        return direct.invoke(&copy, result);
      }
    }
    return direct.invoke(&params, result);
  }

  // Starts a call whose reply nobody wants.
  static void send(Edge& edge, const MethodInfo& info, const CallOptions& options, Params&& params) {
    if (!edge.goes_as_bytes()) {
      static_cast<void>(start(edge, info, options, std::move(params)));
      return;
    }
    const Outgoing outgoing = outgoing_call(edge, info, options);
    const Ref<Pending> call(new RemoteCall<R>(outgoing, /*one_way=*/true));
    encode_params(call->frames, Pending::front(outgoing.scope.path), params);
    send_one_way(call);
  }
};

template <class Raw, class Params>
struct CallTypesOf;
template <class Raw, class... P>
struct CallTypesOf<Raw, Arguments<P...>> {
  using type = CallTypes<Raw, P...>;
};
template <class Types>
using CallTypesFor = typename CallTypesOf<typename Types::Raw, typename Types::Params>::type;

}  // namespace internal

template <class S>
class Client {
 public:
  // Made by dereferencing a Handle.
  explicit Client(Edge& edge) : edge_(&edge) {}
  // A client of a service is also a client of the interface that it implements.
  template <class D>
    requires(std::derived_from<D, S> && !std::same_as<D, S>)
  Client(const Client<D>& other) : edge_(other.edge_), options_(other.options_) {}

  // Calls and waits. Throws Error.
  template <auto M, class... Args>
  auto call(Args&&... args) const {
    if constexpr (internal::can_call<S, M, Args&&...>()) {
      using Types = internal::TypesOf<S, M>;
      static_assert(!internal::ReturnType<typename Types::Raw>::stream,
                    "lp: this method returns a Stream: client.stream<&S::method>(...)");
      return internal::CallTypesFor<Types>::call(
          *edge_, internal::kMethodInfo<Types>, options_,
          internal::MakeArguments<typename Types::Params>::from(std::forward<Args>(args)...));
    }
  }

  // Calls and returns an lp::Future at once.
  template <auto M, class... Args>
  [[nodiscard]] auto async(Args&&... args) const {
    if constexpr (internal::can_call<S, M, Args&&...>()) {
      using Types = internal::TypesOf<S, M>;
      static_assert(!internal::ReturnType<typename Types::Raw>::stream,
                    "lp: this method returns a Stream: client.stream<&S::method>(...)");
      return internal::CallTypesFor<Types>::start(
          *edge_, internal::kMethodInfo<Types>, options_,
          internal::MakeArguments<typename Types::Params>::from(std::forward<Args>(args)...));
    }
  }

  // Starts a call of a method that returns a Stream, and returns its lp::StreamReader.
  template <auto M, class... Args>
  [[nodiscard]] auto stream(Args&&... args) const {
    if constexpr (internal::can_call<S, M, Args&&...>()) {
      using Types = internal::TypesOf<S, M>;
      static_assert(internal::ReturnType<typename Types::Raw>::stream, "lp: this method does not return a Stream");
      return internal::start_stream<typename Types::Result>(
          *edge_, internal::kMethodInfo<Types>, options_,
          internal::MakeArguments<typename Types::Params>::from(std::forward<Args>(args)...));
    }
  }

  // One way: returns when the call is queued here. Nobody learns how it ended. Throws `overloaded` when the queue is
  // full.
  template <auto M, class... Args>
  void send(Args&&... args) const {
    if constexpr (internal::can_call<S, M, Args&&...>()) {
      using Types = internal::TypesOf<S, M>;
      internal::CallTypesFor<Types>::send(
          *edge_, internal::kMethodInfo<Types>, options_,
          internal::MakeArguments<typename Types::Params>::from(std::forward<Args>(args)...));
    }
  }

  // This client with another time limit for each call. What is left of the current handler's time still bounds it.
  Client within(Duration timeout) const {
    Client other = *this;
    other.options_.timeout = timeout;
    return other;
  }

  // This client for one call of a `once` method under a number of the program's own, such as a step, which must grow
  // from call to call: a node that was restarted and does the step again does not run it twice.
  Client numbered(std::uint64_t number) const {
    Client other = *this;
    other.options_.number = number | internal::Caller::kGiven;
    return other;
  }

 private:
  template <class>
  friend class Client;
  Edge* edge_;
  internal::CallOptions options_{};
};

// True when client.call<M>(args...) compiles. For tests and for constraints of your own.
template <class S, auto M, class... Args>
concept Accepts = Service<S> && RemoteOf<S>::type::template contains<M>&&
    internal::kArgumentsFit<typename internal::TypesOf<S, M>::Params, Args...>;

}  // namespace lp

#pragma once
// The code that depends on the types of calls: a few functions for each signature, and for each type of result.
// Everything else is in call.h and edge.h, without types. Internal to lp/rpc and to the tables that lp/program makes.

#include <exception>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "lp/rpc/core/call.h"
#include "lp/rpc/core/future.h"
#include "lp/rpc/core/service_instance.h"
#include "lp/wire/codec.h"
#include "lp/wire/envelope.h"
#include "lp/wire/payload.h"
#include "lp/wire/reader.h"
#include "lp/wire/writer.h"

namespace lp::rpc {

// Method::invoke for one method of S.
template <class S, auto M, class Params = typename Signature<std::remove_const_t<decltype(M)>>::Params>
struct Invoke;
template <class S, auto M, std::size_t... I, class... P>
struct Invoke<S, M, ArgumentList<std::index_sequence<I...>, P...>> {
  static void call(void* object, void* arguments, void* slot) {
    using Raw = typename Signature<std::remove_const_t<decltype(M)>>::Raw;
    S& service = *static_cast<S*>(object);
    [[maybe_unused]] auto& all = *static_cast<Arguments<P...>*>(arguments);
    // A cast is a std::move that makes no function.
    if constexpr (std::is_void_v<Raw>) {
      (service.*M)(static_cast<P&&>(static_cast<Argument<I, P>&>(all).value)...);
      static_cast<Slot<std::monostate>*>(slot)->emplace();
    } else if constexpr (IsFuture<Raw>::value) {
      const Raw future = (service.*M)(static_cast<P&&>(static_cast<Argument<I, P>&>(all).value)...);
      static_cast<Slot<Ref<StateBase>>*>(slot)->emplace(future.state());
    } else {
      auto& result = *static_cast<Slot<Raw>*>(slot);
      ::new (result.address()) Raw((service.*M)(static_cast<P&&>(static_cast<Argument<I, P>&>(all).value)...));
      result.filled();
    }
  }
};

template <class Params>
struct ArgumentsFunctions;
template <std::size_t... I, class... P>
struct ArgumentsFunctions<ArgumentList<std::index_sequence<I...>, P...>> {
  using Params = Arguments<P...>;

  static void encode([[maybe_unused]] const void* arguments, [[maybe_unused]] Writer& out) {
    (out.value(static_cast<const Argument<I, P>&>(*static_cast<const Params*>(arguments)).value), ...);
  }
  static void decode(void* room, [[maybe_unused]] Reader& in) { ::new (room) Params{{in.value<P>()}...}; }
  static void move(void* room, void* arguments) {
    ::new (room) Params(static_cast<Params&&>(*static_cast<Params*>(arguments)));
  }
  static void copy(void* room, const void* arguments) { ::new (room) Params(*static_cast<const Params*>(arguments)); }
  static std::size_t bytes([[maybe_unused]] const void* arguments) {
    return (wire::payload_bytes(static_cast<const Argument<I, P>&>(*static_cast<const Params*>(arguments)).value) +
            ... + std::size_t{0});
  }
  static void destroy(void* arguments) { static_cast<Params*>(arguments)->~Params(); }
};
template <class Params>
constexpr ArgumentsOps arguments_ops() {
  using Functions = ArgumentsFunctions<Params>;
  ArgumentsOps ops{.size = sizeof(Params),
                   .alignment = alignof(Params),
                   .encode = &Functions::encode,
                   .decode = &Functions::decode,
                   .move = &Functions::move,
                   .copy = nullptr,
                   .destroy = &Functions::destroy,
                   .bytes = &Functions::bytes};
  if constexpr (std::is_copy_constructible_v<Params>) ops.copy = &Functions::copy;
  return ops;
}
template <class Params>
inline constexpr ArgumentsOps kArgumentsOps = arguments_ops<Params>();

template <class R>
Message encode_value(const Stored<R>& value, const MessageReceiver* receiver) {
  Writer writer(reply_front());
  writer.set_receiver(receiver);
  if constexpr (!std::is_void_v<R>) writer.value(value);
  return writer.take();
}

template <class R>
void decode_value(Slot<Stored<R>>& out, const Message& message, std::size_t offset) {
  Reader reader(message.body.bytes().subspan(offset), message.arrays);
  if constexpr (std::is_void_v<R>) {
    out.emplace();
  } else {
    out.emplace(reader.value<R>());
  }
  reader.finish();
}

template <class R>
struct ResultFunctions {
  static void encode(StateBase& state, Message& out, const MessageReceiver* receiver) {
    out = encode_value<R>(state.value<R>(), receiver);
  }
  static void decode(StateBase& state, const Message& message, std::size_t offset) {
    decode_value<R>(state.slot<R>(), message, offset);
  }
  static void move(StateBase& from, StateBase& to) { to.slot<R>().emplace(std::move(from.value<R>())); }
  static ServerCall* call(const Outgoing& call, void* arguments);
  static ServerCall* receive(ServiceInstance& node, const Method& method, Incoming&& message);
  static ClientCall* pending(const Outgoing& call, bool one_way);
};
template <class R>
inline constexpr ResultOps kResultOps{&ResultFunctions<R>::encode,  &ResultFunctions<R>::decode,
                                      &ResultFunctions<R>::move,    &ResultFunctions<R>::call,
                                      &ResultFunctions<R>::receive, &ResultFunctions<R>::pending};

// A call at its callee.
template <class R>
class TypedCall final : public ServerCall {
 public:
  TypedCall(const Outgoing& call, void* arguments) : ServerCall(kResultOps<R>, call, arguments, this + 1) {}
  TypedCall(ServiceInstance& node, const Method& method, Incoming&& message)
      : ServerCall(kResultOps<R>, node, method, std::move(message), this + 1) {}

 private:
  void* slot_address() noexcept override { return &result_; }
  Slot<Stored<R>> result_;
};

// A call to another process, at its caller.
template <class R>
class RemoteCall final : public ClientCall {
 public:
  RemoteCall(const Outgoing& outgoing, bool one_way) : ClientCall(kResultOps<R>, outgoing, one_way) {}

 private:
  void* slot_address() noexcept override { return &result_; }
  Slot<Stored<R>> result_;
};

template <class R>
ServerCall* ResultFunctions<R>::call(const Outgoing& call, void* arguments) {
  return new (*call.info.arguments) TypedCall<R>(call, arguments);
}
template <class R>
ServerCall* ResultFunctions<R>::receive(ServiceInstance& node, const Method& method, Incoming&& message) {
  return new (*method.arguments) TypedCall<R>(node, method, std::move(message));
}
template <class R>
ClientCall* ResultFunctions<R>::pending(const Outgoing& call, bool one_way) {
  return new RemoteCall<R>(call, one_way);
}

// The class is a parameter of its own because g++ 12 gives the methods of two classes that are in two sources'
// anonymous namespaces one symbol, when they differ in nothing but their results.
template <class Types, class S = typename Types::Declared::Service>
inline constexpr MethodInfo kMethodInfo{.id = kMethodId<Types>,
                                        .name = method_name<Types::kMethod>,
                                        .traits = Types::kTraits,
                                        .arguments = &kArgumentsOps<typename Types::Params>,
                                        .result = &kResultOps<typename Types::Result>};

// Method::run_batch: R m(std::vector<Item>) for the items of many calls.
template <class S, auto M, class R>
void run_batch_of(ServiceInstance& node, const Method& method, const std::vector<ServerCall*>& calls) {
  using Item = typename BatchItem<typename Signature<std::remove_const_t<decltype(M)>>::Params>::item;
  std::vector<Item> items;
  std::vector<ServerCall*> prepared;
  for (ServerCall* call : calls) {
    try {
      call->prepare();
      Item& item = static_cast<Argument<0, Item>*>(call->arguments())->value;
      if constexpr (std::is_copy_constructible_v<Item>) {
        items.push_back(call->keeps_arguments() ? item : std::move(item));
      } else {
        items.push_back(std::move(item));
      }
      prepared.push_back(call);
    } catch (...) {
      call->settle(node.failure(method, call->scope(), std::current_exception()));
    }
  }
  if (prepared.empty()) return;
  try {
    const std::size_t size = items.size();
    std::vector<R> results = (static_cast<S*>(node.object())->*M)(std::move(items));
    if (results.size() != size) {
      throw Error(ErrorKind::failed, "the batched handler got " + std::to_string(size) + " items and returned " +
                                         std::to_string(results.size()) + " results: return one result for each item");
    }
    for (std::size_t i = 0; i < size; ++i) {
      prepared[i]->template slot<R>().emplace(std::move(results[i]));
      prepared[i]->done();
    }
  } catch (...) {
    for (ServerCall* call : prepared) call->settle(node.failure(method, call->scope(), std::current_exception()));
  }
}

}  // namespace lp::rpc

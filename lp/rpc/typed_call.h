#pragma once
// The bodies of calls that know their types: one set for each signature, however many methods have it, and as little in
// it as can be. Internal to lp/rpc and to the tables that lp/program makes.

#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "lp/rpc/call.h"
#include "lp/rpc/future.h"
#include "lp/rpc/node_core.h"
#include "lp/wire/codec.h"
#include "lp/wire/envelope.h"
#include "lp/wire/reader.h"
#include "lp/wire/writer.h"

namespace lp::internal {

template <auto M, class S, std::size_t... I, class... P>
void invoke_on(S& service, ArgumentList<std::index_sequence<I...>, P...>& arguments, void* result) {
  using Raw = typename Signature<std::remove_const_t<decltype(M)>>::Raw;
  if constexpr (std::is_void_v<Raw>) {
    (service.*M)(std::move(static_cast<Argument<I, P>&>(arguments).value)...);
    ::new (result) std::monostate;
  } else {
    ::new (result) Raw((service.*M)(std::move(static_cast<Argument<I, P>&>(arguments).value)...));
  }
}

// Method::invoke for one method of S.
template <class S, auto M>
void invoke_method(void* object, void* params, void* result) {
  using Params = typename Signature<std::remove_const_t<decltype(M)>>::Params;
  invoke_on<M>(*static_cast<S*>(object), *static_cast<Params*>(params), result);
}

template <std::size_t... I, class... P>
void encode_params(Frames& out, std::size_t front, const ArgumentList<std::index_sequence<I...>, P...>& params) {
  Writer writer(front);
  (writer.value(static_cast<const Argument<I, P>&>(params).value), ...);
  out = writer.take();
}

template <class... P>
void decode_params(Slot<Arguments<P...>>& out, const Frames& frames, std::size_t offset) {
  Reader reader(frames.body.bytes().subspan(offset), frames.arrays);
  ::new (out.address()) Arguments<P...>{{{reader.value<P>()}...}};
  out.filled();
  reader.finish();
}

template <class R>
Frames encode_value(const Stored<R>& value) {
  Writer writer(reply_front());
  if constexpr (!std::is_void_v<R>) writer.value(value);
  return writer.take();
}

template <class R>
void decode_value(Slot<Stored<R>>& out, const Frames& frames, std::size_t offset) {
  Reader reader(frames.body.bytes().subspan(offset), frames.arrays);
  if constexpr (std::is_void_v<R>) {
    out.emplace();
  } else {
    out.emplace(reader.value<R>());
  }
  reader.finish();
}

template <class R>
inline constexpr ResultOps kResultOps{
    [](StateBase& state, Frames& out) { out = encode_value<R>(state.value<R>()); },
    [](StateBase& state, const Frames& frames, std::size_t offset) {
      decode_value<R>(state.slot<R>(), frames, offset);
    },
    [](StateBase& from, StateBase& to) { to.slot<R>().emplace(std::move(from.value<R>())); }};

// A call at its callee.
template <class Raw, class... P>
class TypedCall final : public Call {
 public:
  using R = ResultOfRaw<Raw>;
  using Params = Arguments<P...>;

  TypedCall(const Outgoing& call, Params&& params) : Call(kResultOps<R>, call) { params_.emplace(std::move(params)); }
  TypedCall(NodeCore& node, const Method& method, Incoming&& message)
      : Call(kResultOps<R>, node, method, std::move(message)) {}

  Params& params() { return params_.get(); }

 protected:
  void* slot_address() noexcept override { return &result_; }
  void decode(const Frames& frames, std::size_t offset) override { decode_params(params_, frames, offset); }

  void invoke() override {
    if constexpr (std::is_copy_constructible_v<Params>) {
      if (keeps_params()) {
        Params copy(params_.get());
        run_handler(copy);
        return;
      }
    }
    run_handler(params_.get());
  }

 private:
  void run_handler(Params& params) {
    if constexpr (IsFuture<Raw>::value) {
      Slot<Raw> future;
      method().invoke(node().object(), &params, future.address());
      future.filled();
      follow(future.get().state());
    } else {
      method().invoke(node().object(), &params, result_.address());
      result_.filled();
      done();
    }
  }

  Slot<Params> params_;
  Slot<Stored<R>> result_;
};

// A call to another process, at its caller.
template <class R>
class RemoteCall final : public Pending {
 public:
  RemoteCall(const Outgoing& outgoing, bool one_way) : Pending(kResultOps<R>, outgoing, one_way) {}

 protected:
  void* slot_address() noexcept override { return &result_; }

 private:
  Slot<Stored<R>> result_;
};

// Method::receive.
template <class Raw, class... P>
Call* receive_call(NodeCore& node, const Method& method, Incoming&& message) {
  return new TypedCall<Raw, P...>(node, method, std::move(message));
}

// Method::run_batch: R m(std::vector<Item>) for the items of many calls.
template <class S, auto M, class R>
void run_batch_of(NodeCore& node, const Method& method, const std::vector<Call*>& calls) {
  using Item = typename BatchItem<typename Signature<std::remove_const_t<decltype(M)>>::Params>::item;
  using Typed = TypedCall<R, Item>;
  std::vector<Item> items;
  std::vector<Typed*> typed;
  for (Call* call : calls) {
    try {
      call->prepare();
      auto* one = static_cast<Typed*>(call);
      items.push_back(std::move(static_cast<Argument<0, Item>&>(one->params()).value));
      typed.push_back(one);
    } catch (...) {
      call->settle(node.failure(method, call->scope(), std::current_exception()));
    }
  }
  if (typed.empty()) return;
  try {
    const std::size_t size = items.size();
    std::vector<R> results = (static_cast<S*>(node.object())->*M)(std::move(items));
    if (results.size() != size) {
      throw Error(ErrorKind::failed, "the batched handler got " + std::to_string(size) + " items and returned " +
                                         std::to_string(results.size()) + " results; one each is expected");
    }
    for (std::size_t i = 0; i < size; ++i) {
      typed[i]->template slot<R>().emplace(std::move(results[i]));
      typed[i]->done();
    }
  } catch (...) {
    for (Typed* call : typed) call->settle(node.failure(method, call->scope(), std::current_exception()));
  }
}

}  // namespace lp::internal

#pragma once
// Declares which methods of a service others may call, and how:
//
//   using Remote = lp::Methods<&Server::pull, lp::once<&Server::push>, lp::concurrent<&Server::predict, 8>>;
//
// The declaration stands after the methods that it names. A trait wraps a method or another trait. Pure compile time.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include "lp/base/hash.h"
#include "lp/base/interval.h"
#include "lp/base/names.h"
#include "lp/base/scheduler.h"
#include "lp/rpc/core/arguments.h"
#include "lp/wire/codec.h"
#include "lp/wire/shape.h"

namespace lp {

template <class T>
class Future;
template <class T>
class Stream;
template <Sendable T>
class Published;

// The way in which a method is run and retried.
struct MethodTraits {
  bool idempotent = false;  // may run again: lp retries it when its service was restarted
  bool once = false;        // runs once for each call, however often lp sends it
  bool immediate = false;   // runs beside the turn, in the thread that receives it; it is short and never waits
  int concurrent = 0;       // how many calls run beside the turn at a time; 0: in turn
  int queue = 0;            // concurrent: how many calls may wait
  int batch = 0;            // how many callers' items it takes at a time; 0: one call each
  Duration batch_wait{};    // batched: how long the first item waits for others
  Duration deadline{};      // deadline of a call that sets none; 0: the run's default

  constexpr bool in_turn() const { return concurrent == 0 && !immediate; }
  constexpr bool ordered() const { return in_turn() && batch == 0; }  // calls begin in the order of their caller
};

namespace rpc {

template <auto M>
concept Trait = requires {
  M.traits();
};

template <class Member>
inline constexpr bool kIsPublished = false;
template <class S, class T>
inline constexpr bool kIsPublished<Published<T> S::*> = true;
template <class S, class T>
inline constexpr bool kIsPublished<Published<T> S::*const> = true;

// A const method promises that it may run again, and that its reply does not depend on how often it was called. A
// method that counts, or takes the next of something, through a mutable member or a pointer, is not const. A stream may
// not run again: its reader has some of the values.
template <class Member>
inline constexpr bool kOnlyReads = false;
template <class S, class R, class... P>
inline constexpr bool kOnlyReads<R (S::*)(P...) const> = true;
template <class S, class R, class... P>
inline constexpr bool kOnlyReads<R (S::*)(P...) const noexcept> = true;
template <class S, class T, class... P>
inline constexpr bool kOnlyReads<Stream<T> (S::*)(P...) const> = false;
template <class S, class T, class... P>
inline constexpr bool kOnlyReads<Stream<T> (S::*)(P...) const noexcept> = false;

template <auto M>
constexpr MethodTraits traits_of() {
  if constexpr (Trait<M>) {
    return M.traits();
  } else {
    using Member = std::remove_const_t<decltype(M)>;
    return {.idempotent = kOnlyReads<Member> || kIsPublished<Member>, .immediate = kIsPublished<Member>};
  }
}
template <auto M>
constexpr auto method_of() {
  if constexpr (Trait<M>) {
    return M.method();
  } else {
    return M;
  }
}

template <auto M>
struct Wrapped {
  static constexpr auto method() { return method_of<M>(); }
};
template <auto M>
struct Idempotent : Wrapped<M> {
  static constexpr MethodTraits traits() {
    MethodTraits traits = traits_of<M>();
    traits.idempotent = true;
    return traits;
  }
};
template <auto M>
struct Once : Wrapped<M> {
  static constexpr MethodTraits traits() {
    MethodTraits traits = traits_of<M>();
    traits.once = true;
    return traits;
  }
};
template <auto M>
struct Immediate : Wrapped<M> {
  static constexpr MethodTraits traits() {
    MethodTraits traits = traits_of<M>();
    static_assert(traits_of<M>().concurrent == 0 && traits_of<M>().batch == 0,
                  "lp: lp::immediate<method> is neither concurrent nor batched");
    traits.immediate = true;
    return traits;
  }
};
template <auto M, int kLimit, int kQueue>
struct Concurrent : Wrapped<M> {
  static_assert(kLimit > 0 && kQueue >= 0, "lp: lp::concurrent<method, limit, queue> takes a positive limit");
  static constexpr MethodTraits traits() {
    MethodTraits traits = traits_of<M>();
    traits.concurrent = kLimit;
    traits.queue = kQueue;
    return traits;
  }
};
// Whether kTime, an argument of a trait, has a unit.
template <auto kTime>
inline constexpr bool kHasUnit = std::is_same_v<std::remove_const_t<decltype(kTime)>, Interval>;
template <auto M, int kSize, auto kWait>
struct Batched : Wrapped<M> {
  static_assert(kSize > 0, "lp: lp::batched<method, size, time> takes a positive size");
  static_assert(kHasUnit<kWait>, "lp: lp::batched<method, size, time> takes a time with its unit, as 1_ms");
  static constexpr MethodTraits traits() {
    MethodTraits traits = traits_of<M>();
    traits.batch = kSize;
    if constexpr (kHasUnit<kWait>) traits.batch_wait = kWait;
    return traits;
  }
};
template <auto M, auto kTime>
struct Deadline : Wrapped<M> {
  static_assert(kHasUnit<kTime>, "lp: lp::deadline<method, time> takes a time with its unit, as 60_s");
  static constexpr MethodTraits traits() {
    MethodTraits traits = traits_of<M>();
    if constexpr (kHasUnit<kTime>) {
      static_assert(kTime.nanoseconds > 0, "lp: lp::deadline<method, time> takes a positive time");
      traits.deadline = kTime;
    }
    return traits;
  }
};

}  // namespace rpc

// lp may call the method again after its service was restarted in the middle. A const method is idempotent without this
// trait, unless it returns a Stream. A method that must not run twice is not const.
template <auto M>
inline constexpr rpc::Idempotent<M> idempotent{};
// The method runs once for each call: lp retries it, and the service recognizes by caller and number the calls that it
// has done already.
template <auto M>
inline constexpr rpc::Once<M> once{};
// The method runs beside the turn, at most kLimit calls at a time. kQueue more may wait, then callers get `overloaded`.
template <auto M, int kLimit, int kQueue = 1024>
inline constexpr rpc::Concurrent<M, kLimit, kQueue> concurrent{};
// The method runs beside the turn, in the thread of its caller, or in the thread that receives the call. So it has its
// own lock, is short, and never waits; it may return a Future that others complete.
template <auto M>
inline constexpr rpc::Immediate<M> immediate{};
// For std::vector<R> m(std::vector<Item>): a caller sends one Item and gets one R. The handler gets kSize items, or
// those that came within kWait of the first: lp::batched<&Model::predict, 64, 1_ms>.
template <auto M, int kSize, auto kWait>
inline constexpr rpc::Batched<M, kSize, kWait> batched{};
// Sets how long a call may take if the caller sets no limit: lp::deadline<&Server::step, 60_s>.
template <auto M, auto kTime>
inline constexpr rpc::Deadline<M, kTime> deadline{};

namespace rpc {

template <class R>
struct ReturnType {
  using type = R;
  static constexpr bool plain = true;
  static constexpr bool stream = false;
};
template <class R>
struct ReturnType<Future<R>> {
  using type = R;
  static constexpr bool plain = false;
  static constexpr bool stream = false;
};
template <class R>
struct ReturnType<Stream<R>> {
  using type = R;
  static constexpr bool plain = false;
  static constexpr bool stream = true;
};
// The caller's result for a handler that returns Raw.
template <class Raw>
using ResultOfRaw = typename ReturnType<Raw>::type;

// The method as it is declared: Raw m(P...).
template <class F>
struct Signature;
template <class S, class R, class... P>
struct Signature<R (S::*)(P...)> {
  using Service = S;
  using Raw = std::remove_cvref_t<R>;
  using Params = Arguments<std::remove_cvref_t<P>...>;
  static constexpr bool takes_values =
      (!(std::is_lvalue_reference_v<P> && !std::is_const_v<std::remove_reference_t<P>>)&&...);
  static constexpr bool takes_references = (std::is_reference_v<P> || ...);
};
template <class S, class R, class... P>
struct Signature<R (S::*)(P...) const> : Signature<R (S::*)(P...)> {};
template <class S, class R, class... P>
struct Signature<R (S::*)(P...) noexcept> : Signature<R (S::*)(P...)> {};
template <class S, class R, class... P>
struct Signature<R (S::*)(P...) const noexcept> : Signature<R (S::*)(P...)> {};

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

template <class Params>
struct BatchItem : std::false_type {};
template <class T>
struct BatchItem<Arguments<std::vector<T>>> : std::true_type {
  using item = T;
  using type = Arguments<T>;
};

// The method as callers see it: a batched method has one item for each caller.
template <auto Entry>
struct MethodTypes {
  static constexpr auto kMethod = method_of<Entry>();
  using Declared = Signature<std::remove_const_t<decltype(kMethod)>>;
  static constexpr MethodTraits kTraits = traits_of<Entry>();

  template <bool kBatched, class D>
  struct Seen {
    using Raw = typename D::Raw;
    using Params = typename D::Params;
  };
  template <class D>
  struct Seen<true, D> {
    using Raw = typename D::Raw::value_type;
    using Params = typename BatchItem<typename D::Params>::type;
  };
  using Raw = typename Seen<(kTraits.batch > 0), Declared>::Raw;
  using Params = typename Seen<(kTraits.batch > 0), Declared>::Params;
  using Result = ResultOfRaw<Raw>;
};

// Explains in a sentence why an argument cannot be sent.
template <std::size_t... I, class... P>
consteval bool arguments_are_sendable(std::type_identity<ArgumentList<std::index_sequence<I...>, P...>>) {
  return (check_sendable<P>() && ...);
}
template <class R>
consteval bool result_is_sendable() {
  if constexpr (std::is_void_v<R>) {
    return true;
  } else {
    return check_sendable<R>();
  }
}

template <auto Entry>
consteval bool method_is_fine() {
  constexpr auto method = method_of<Entry>();
  constexpr bool member =
      std::is_member_function_pointer_v<decltype(method)> || kIsPublished<std::remove_const_t<decltype(method)>>;
  if constexpr (!member) {
    static_assert(member,
                  "lp: lp::Methods takes member functions and lp::Published members: lp::Methods<&MyService::push>");
    return false;
  } else {
    using Declared = Signature<std::remove_const_t<decltype(method)>>;
    constexpr MethodTraits traits = traits_of<Entry>();
    if constexpr (!Declared::takes_values) {
      static_assert(
          Declared::takes_values,
          "lp: a remote method takes values; a non-const reference cannot cross a process: return the result");
      return false;
    } else if constexpr (!ReturnType<typename Declared::Raw>::plain && Declared::takes_references) {
      static_assert(
          ReturnType<typename Declared::Raw>::plain || !Declared::takes_references,
          "lp: a handler that returns a Future or a Stream outlives its arguments: take them by value, not by "
          "reference");
      return false;
    } else if constexpr (traits.batch > 0 &&
                         !(IsVector<typename Declared::Raw>::value && BatchItem<typename Declared::Params>::value)) {
      static_assert(traits.batch == 0,
                    "lp: a batched method takes one std::vector<Item> and returns a std::vector<Result>");
      return false;
    } else {
      return arguments_are_sendable(std::type_identity<typename Declared::Params>{}) &&
             result_is_sendable<ResultOfRaw<typename Declared::Raw>>();
    }
  }
}

// Returns a hash of a method's name and the types that it moves: equal for an interface's method and its override.
template <class Params, class Result>
constexpr std::uint64_t method_id(std::string_view name) {
  return fnv1a(type_name<Params>, fnv1a(type_name<Result>, fnv1a(name)));
}

}  // namespace rpc

namespace rpc {

// An index from methods to their entries, by overload resolution: it compiles in linear time.
template <auto M>
struct MethodKey {};
template <class Key, class Types>
struct EntryOf {
  static Types find(Key*);
};
template <auto... Entries>
struct EntryTable : EntryOf<MethodKey<method_of<Entries>()>, MethodTypes<Entries>>... {
  using EntryOf<MethodKey<method_of<Entries>()>, MethodTypes<Entries>>::find...;
};
template <>
struct EntryTable<> {
  static void find(std::nullptr_t*);  // no key is a null pointer
};

}  // namespace rpc

template <auto... Entries>
struct Methods {
  static constexpr std::size_t size = sizeof...(Entries);

  template <auto M>
  static constexpr bool contains = requires(rpc::MethodKey<M>* key) {
    rpc::EntryTable<Entries...>::find(key);
  };

  static consteval bool check() { return (rpc::method_is_fine<Entries>() && ...); }

  template <auto M>
  using Types = decltype(rpc::EntryTable<Entries...>::find(static_cast<rpc::MethodKey<M>*>(nullptr)));
};

// Lists the remote methods of S. Specialise it for a class that you cannot edit.
template <class S>
struct RemoteOf {};
template <class S>
  requires requires { typename S::Remote; }
struct RemoteOf<S> {
  using type = typename S::Remote;
};

template <class S>
concept Service = requires {
  typename RemoteOf<S>::type;
};

namespace rpc {

// The types of a method of S as its callers see them.
template <class S, auto M>
using TypesOf = typename RemoteOf<S>::type::template Types<M>;

template <class Types>
inline constexpr std::uint64_t kMethodId =
    method_id<typename Types::Params, typename Types::Result>(method_name<Types::kMethod>);

struct ResultOps;

// The caller's description of a method.
struct MethodInfo {
  std::uint64_t id = 0;
  std::string_view name{};
  MethodTraits traits{};
  const ArgumentsOps* arguments = nullptr;
  const ResultOps* result = nullptr;
};

class ServerCall;
class ServiceInstance;
struct Incoming;

// A service's description of one of its methods.
struct Method : MethodInfo {
  std::uint64_t shape = 0;  // hash of the types that it moves, recursively
  bool direct = false;      // may run on its caller's stack: in turn or concurrent, one at a time, with a plain result
  bool defers = false;      // returns a Future
  // Fills `slot`: a Slot for the result, or for a Ref<StateBase> when it defers.
  void (*invoke)(void* object, void* arguments, void* slot) = nullptr;
  ServerCall* (*receive)(ServiceInstance& node, const Method& method,
                         Incoming&& message) = nullptr;  // a call that came as bytes
  void (*run_batch)(ServiceInstance& node, const Method& method, const std::vector<ServerCall*>& calls) = nullptr;
};

}  // namespace rpc
}  // namespace lp

#pragma once
// The interface that a handle expects of its node: the class, and the methods that callers use. It is compared with the
// program's node. Values that refer to constants. Pure.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "lp/base/names.h"
#include "lp/rpc/core/method.h"

namespace lp::internal {

struct Interface {
  std::string_view class_name{};
  std::span<const std::uint64_t> methods{};  // ids of the methods; every node satisfies an empty list
};

template <class Remote>
struct MethodIds;
template <auto... Entries>
struct MethodIds<Methods<Entries...>> {
  static constexpr std::array<std::uint64_t, sizeof...(Entries)> kAll{rpc::kMethodId<rpc::MethodTypes<Entries>>...};
};

template <class S>
constexpr Interface interface_of() {
  Interface found{.class_name = type_name<S>};
  if constexpr (Service<S>) found.methods = MethodIds<typename RemoteOf<S>::type>::kAll;
  return found;
}

// Returns whether Derived's Remote has every method of Base's Remote.
template <class Base, class Derived>
consteval bool implements() {
  const auto& offered = MethodIds<typename RemoteOf<Derived>::type>::kAll;
  return std::ranges::all_of(MethodIds<typename RemoteOf<Base>::type>::kAll,
                             [&](std::uint64_t id) { return std::ranges::find(offered, id) != offered.end(); });
}

}  // namespace lp::internal

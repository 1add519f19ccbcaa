#pragma once
// Arguments of a node that are known only when it starts. A type with dereference(Context&) is deferred: the
// constructor receives the result of that function. Values; they copy. Pure.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lp/program/context.h"

namespace lp {

template <class T>
concept Deferred = requires(const T& argument, Context& context) {
  argument.dereference(context);
};

namespace internal {

struct Index {
  int dereference(Context& context) const { return context.index(); }
};
struct GroupSize {
  int dereference(Context& context) const { return context.replicas(); }
};
struct Seed {
  std::uint64_t dereference(Context& context) const { return context.seed(); }
};
struct OwnContext {
  Context& dereference(Context& context) const { return context; }
};
template <class F>
struct PerReplica {
  F f;
  auto dereference(Context& context) const { return f(context.index()); }
};

// Returns the value that the constructor receives for an argument: a vector of clients for a vector of handles, and so
// on.
template <class T>
decltype(auto) dereference(const T& argument, Context& context) {
  if constexpr (Deferred<T>) {
    return argument.dereference(context);
  } else {
    return T(argument);
  }
}
template <class T>
auto dereference(const std::vector<T>& arguments, Context& context) {
  if constexpr (Deferred<T>) {
    std::vector<decltype(arguments[0].dereference(context))> out;
    for (const T& argument : arguments) out.push_back(argument.dereference(context));
    return out;
  } else {
    return std::vector<T>(arguments);
  }
}
template <class T>
using Dereferenced = decltype(internal::dereference(std::declval<const T&>(), std::declval<Context&>()));

// Appends the names of the nodes to which an argument makes edges.
template <class T>
void append_nodes(std::vector<std::string>& names, const T& argument) {
  if constexpr (requires { argument.append_nodes(names); }) argument.append_nodes(names);
}
template <class T>
void append_nodes(std::vector<std::string>& names, const std::vector<T>& arguments) {
  for (const T& argument : arguments) append_nodes(names, argument);
}

}  // namespace internal

// lp::index and the others. They have a namespace of their own so that code inside lp may use these names for
// variables.
namespace arguments {
inline constexpr internal::Index index{};         // int: the node's replica number in its group
inline constexpr internal::GroupSize replicas{};  // int: the size of the node's group; for an elastic group the maximum
inline constexpr internal::Seed seed{};           // std::uint64_t: the node's own seed
inline constexpr internal::OwnContext context{};  // lp::Context&, which lives as long as the service
}  // namespace arguments
using namespace arguments;

// An argument whose value for each replica is f(index).
template <class F>
auto per_replica(F f) {
  return internal::PerReplica<F>{std::move(f)};
}

}  // namespace lp

#pragma once
// The table of a node's class that the runtime uses: the type itself is erased. The table is made from the class at
// compile time, where a node is added.

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "lp/program/context.h"
#include "lp/program/deferred.h"
#include "lp/program/node_check.h"
#include "lp/rpc/core/method.h"
#include "lp/rpc/stream_call.h"
#include "lp/rpc/typed_call.h"

namespace lp {

class Checkpoint;

// The user's object, while its node runs.
class NodeObject {
 public:
  virtual ~NodeObject() = default;
  virtual void* service() = 0;
  virtual void run(Context& context) = 0;
  virtual void save(Checkpoint& checkpoint) = 0;
  virtual void load(const Checkpoint& checkpoint) = 0;
};

struct NodeType {
  std::string_view name{};             // name of the class
  bool active = false;                 // the class has run()
  bool saves = false;                  // the class has save() and load(): its nodes are members of the program's cuts
  std::vector<rpc::Method> methods{};  // sorted by id
};

namespace internal {

template <class S>
class NodeOf final : public NodeObject {
 public:
  template <class... Args>
  explicit NodeOf(Args&&... args) : service_(std::forward<Args>(args)...) {}
  void* service() override { return &service_; }
  void run([[maybe_unused]] Context& context) override {
    if constexpr (RunsWithContext<S>) {
      service_.run(context);
    } else if constexpr (RunsAlone<S>) {
      service_.run();
    }
  }
  void save([[maybe_unused]] Checkpoint& checkpoint) override {
    if constexpr (Saves<S>) service_.save(checkpoint);
  }
  void load([[maybe_unused]] const Checkpoint& checkpoint) override {
    if constexpr (Loads<S>) service_.load(checkpoint);
  }

 private:
  S service_;
};

// Returns the shape of a type, which is known only when the program runs. A list of them ends with null.
using Shape = std::uint64_t (*)();
inline std::uint64_t no_shape() { return 0; }
template <class R>
constexpr Shape shape_of_result() {
  if constexpr (std::is_void_v<R>) {
    return &no_shape;
  } else {
    return &shape_of<R>;
  }
}
template <class Result, class Params>
struct ShapesOf;
template <class Result, std::size_t... I, class... P>
struct ShapesOf<Result, rpc::ArgumentList<std::index_sequence<I...>, P...>> {
  static constexpr Shape kAll[] = {shape_of_result<Result>(), &shape_of<P>..., nullptr};
};

// The part of a method's table that is known when the program is compiled.
struct MethodEntry {
  rpc::Method method{};
  const Shape* shapes = nullptr;
};

template <class S, auto Entry>
constexpr MethodEntry entry_of() {
  using Types = rpc::MethodTypes<Entry>;
  using Raw = typename Types::Raw;
  using Result = typename Types::Result;
  MethodEntry entry{.shapes = ShapesOf<Result, typename Types::Params>::kAll};
  rpc::Method& method = entry.method;
  static_cast<rpc::MethodInfo&>(method) = rpc::kMethodInfo<Types>;
  if constexpr (rpc::ReturnType<Raw>::stream) {
    method.receive = &rpc::receive_stream<Result>;
  } else {
    method.receive = &rpc::ResultFunctions<Result>::receive;
  }
  if constexpr (Types::kTraits.batch > 0) {
    method.run_batch = &rpc::run_batch_of<S, Types::kMethod, Raw>;
  } else {
    method.invoke = &rpc::Invoke<S, Types::kMethod>::call;
    method.direct = rpc::ReturnType<Raw>::plain && !Types::kTraits.once;
    method.defers = rpc::IsFuture<Raw>::value;
  }
  return entry;
}
template <class S, class Remote>
struct EntriesOf;
template <class S, auto... Entry>
struct EntriesOf<S, Methods<Entry...>> {
  static constexpr std::array<MethodEntry, sizeof...(Entry)> kAll{entry_of<S, Entry>()...};
};

// Returns the methods with complete tables, sorted by id.
std::vector<rpc::Method> methods_of(std::span<const MethodEntry> entries);

template <class S>
const NodeType& node_type() {
  static const NodeType type = [] {
    NodeType made{.name = type_name<S>, .active = RunsWithContext<S> || RunsAlone<S>, .saves = Saves<S> && Loads<S>};
    if constexpr (Service<S>) made.methods = methods_of(EntriesOf<S, typename RemoteOf<S>::type>::kAll);
    return made;
  }();
  return type;
}

template <class... Args>
std::vector<std::string> edges_of(const Args&... args) {
  std::vector<std::string> names;
  (append_nodes(names, args), ...);
  std::vector<std::string> once;
  for (std::string& name : names) {
    if (std::find(once.begin(), once.end(), name) == once.end()) once.push_back(std::move(name));
  }
  return once;
}

template <class S, class... Args>
std::function<std::unique_ptr<NodeObject>(Context&)> builder(Args... args) {
  return [... args = std::move(args)](Context& context) -> std::unique_ptr<NodeObject> {
    return std::make_unique<NodeOf<S>>(internal::dereference(args, context)...);
  };
}

// A function node: an object whose run() calls the function with its clients.
template <class F, class... Clients>
class FunctionNode final : public NodeObject {
 public:
  FunctionNode(F f, std::tuple<Clients...> clients) : f_(std::move(f)), clients_(std::move(clients)) {}
  void* service() override { return this; }
  void run(Context& context) override {
    std::apply(
        [&](auto&... clients) {
          if constexpr (std::is_invocable_v<F&, Context&, decltype(clients)...>) {
            f_(context, clients...);
          } else {
            f_(clients...);
          }
        },
        clients_);
  }
  void save(Checkpoint&) override {}
  void load(const Checkpoint&) override {}

 private:
  F f_;
  std::tuple<Clients...> clients_;
};

template <class F>
const NodeType& function_type() {
  static const NodeType type{.name = "function", .active = true};
  return type;
}

template <class F, class... Args>
std::function<std::unique_ptr<NodeObject>(Context&)> function_builder(F f, Args... args) {
  return [f = std::move(f), ... args = std::move(args)](Context& context) -> std::unique_ptr<NodeObject> {
    return std::make_unique<FunctionNode<F, Dereferenced<Args>...>>(
        f, std::tuple<Dereferenced<Args>...>(internal::dereference(args, context)...));
  };
}

}  // namespace internal
}  // namespace lp

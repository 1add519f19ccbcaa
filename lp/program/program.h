#pragma once
// A program: named nodes, and the handles that join them. It declares; nothing runs. A program is a pure function of
// its configuration, because every process of a run builds it again.
//
//   lp::Program p("digits");
//   auto server = p.add<ParameterServer>({.name = "server"}, config);
//   p.group<Worker>({.name = "worker", .replicas = 4, .on_failure = lp::restart(3)}, server, lp::index, config);
//
// Every argument after the options goes to the node's constructor; what is known only at launch is deferred
// (deferred.h): Handle<S> arrives as Client<S>, GroupHandle<S> as Clients<S>, lp::index as int. The constructor is
// checked here, at compile time. Owned by whoever builds it; one thread builds, afterwards any may read.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lp/program/deferred.h"
#include "lp/program/handle.h"
#include "lp/program/node_type.h"
#include "lp/program/options.h"

namespace lp {

// One group of the program: its options and its nodes, which follow each other.
struct GroupSpec {
  GroupOptions options{};
  NodeId first = 0;
  int size = 0;
};

// One node of the program.
struct NodeSpec {
  std::string name{};                // "server", "worker/3"
  std::size_t group = 0;             // position in Program::groups()
  int index = 0;                     // which replica
  const NodeType* type = nullptr;    // null until the node is defined (see declare)
  std::vector<std::string> edges{};  // the nodes that it calls, by name, each once, in the order of its arguments
  std::size_t process = 0;  // nodes of equal number share a process (see colocate); a node's own position otherwise
  std::function<std::unique_ptr<NodeObject>(Context&)> build{};
};

class Program {
 public:
  explicit Program(std::string name) : name_(std::move(name)) {}

  // Adds one node.
  template <class S, class... Args>
  Handle<S> add(GroupOptions options, Args... args) {
    if constexpr (internal::node_is_fine<S, Args...>()) {
      const std::string name = options.name;
      add_group(std::move(options), /*single=*/true);
      define_group(name, internal::node_type<S>(), internal::edges_of(args...), internal::builder<S>(args...));
      return Handle<S>(name);
    }
  }

  // Adds options.replicas nodes, of an elastic group the most: name/0, name/1, ... Throws Error for more than 65536,
  // and when the program would have more than a million.
  template <class S, class... Args>
  GroupHandle<S> group(GroupOptions options, Args... args) {
    if constexpr (internal::node_is_fine<S, Args...>()) {
      GroupHandle<S> handle(options.name, options.replicas.most);
      add_group(std::move(options), /*single=*/false);
      define_group(handle.name(), internal::node_type<S>(), internal::edges_of(args...), internal::builder<S>(args...));
      return handle;
    }
  }

  // Adds nodes that run a function once: f(context, arguments...) or f(arguments...), where handles arrive as clients.
  // It may capture configuration, nothing else: every process builds it anew.
  template <class F, class... Args>
  void function(GroupOptions options, F f, Args... args) {
    if constexpr (internal::function_is_fine<F, Args...>()) {
      const std::string name = options.name;
      const bool single = options.replicas == 1;
      add_group(std::move(options), single);
      define_group(name, internal::function_type<F>(), internal::edges_of(args...),
                   internal::function_builder<F>(std::move(f), args...));
    }
  }

  // For cycles: names a node now, so that others can hold its handle, and says later with `define` what it is.
  template <class S>
  Handle<S> declare(GroupOptions options) {
    const std::string name = options.name;
    add_group(std::move(options), /*single=*/true);
    return Handle<S>(name);
  }
  template <class S>
  GroupHandle<S> declare_group(GroupOptions options) {
    GroupHandle<S> handle(options.name, options.replicas.most);
    add_group(std::move(options), /*single=*/false);
    return handle;
  }
  template <class S, class... Args>
  void define(const Handle<S>& declared, Args... args) {
    if constexpr (internal::node_is_fine<S, Args...>()) {
      define_group(declared.name(), internal::node_type<S>(), internal::edges_of(args...),
                   internal::builder<S>(args...));
    }
  }
  template <class S, class... Args>
  void define(const GroupHandle<S>& declared, Args... args) {
    if constexpr (internal::node_is_fine<S, Args...>()) {
      define_group(declared.name(), internal::node_type<S>(), internal::edges_of(args...),
                   internal::builder<S>(args...));
    }
  }

  // Puts the nodes of these handles into one process, wherever that is.
  template <class... Handles>
  void colocate(const Handles&... handles) {
    std::vector<std::string> names;
    (handles.append_nodes(names), ...);
    colocate_nodes(names);
  }

  const std::string& name() const { return name_; }
  std::span<const GroupSpec> groups() const { return groups_; }
  std::span<const NodeSpec> nodes() const { return nodes_; }
  const GroupSpec& group_of(NodeId node) const { return groups_[nodes_[node].group]; }

  // The position of the node of this name; nothing when there is none.
  std::optional<NodeId> find(std::string_view node) const;
  // The group of this name, null when there is none. A node that was added alone is one, too.
  const GroupSpec* find_group(std::string_view group) const;

  // The handle of a node or of a group that has been added, by its name: "server", "worker/3". Throws Error::failed
  // when there is none, and when its class neither is S nor has all methods of S.
  template <class S>
  Handle<S> handle(std::string_view node) const {
    check_node(node, internal::interface_of<S>());
    return Handle<S>(std::string(node));
  }
  template <class S>
  GroupHandle<S> group_handle(std::string_view group) const {
    return GroupHandle<S>(std::string(group), check_group(group, internal::interface_of<S>()).size);
  }

  // For messages, after the name of a node or group that is missing: ": 'server' has 2 nodes, from 'server/0' on",
  // "; did you mean server?", or nothing.
  std::string instead_of(std::string_view group) const;

  // What a handle says holds: there is such a node, whose class serves these methods; there is such a group, of this
  // size. Throws Error::failed with what is wrong.
  NodeId check_node(std::string_view node, const internal::Interface& service) const;
  const GroupSpec& check_group(std::string_view group, const internal::Interface& service) const;
  const GroupSpec& check_group(std::string_view group, int size) const;

  // Equal for two builds of the same graph: names, options that shape it, edges, and, recursively, every method and
  // every field of the types that the methods move.
  std::uint64_t fingerprint() const;

 private:
  bool is_single(const GroupSpec& group) const;  // was added alone, so that its node has its name
  const GroupSpec& group_named(std::string_view group) const;
  void check_class(const NodeSpec& node, const internal::Interface& service) const;
  void add_group(GroupOptions options, bool single);
  void define_group(const std::string& name, const NodeType& type, std::vector<std::string> edges,
                    std::function<std::unique_ptr<NodeObject>(Context&)> build);
  void colocate_nodes(std::span<const std::string> names);

  std::string name_;
  std::vector<GroupSpec> groups_;
  std::vector<NodeSpec> nodes_;
  std::map<std::string, NodeId, std::less<>> ids_;
};

}  // namespace lp

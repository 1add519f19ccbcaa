#pragma once
// A program: named nodes, and the handles that connect them. It only declares; nothing runs. A program is a pure
// function of its configuration, because every process of a run builds it again.
//
//   lp::Program p("digits");
//   auto server = p.add<ParameterServer>({.name = "server"}, config);
//   p.group<Worker>({.name = "worker", .replicas = 4, .on_failure = lp::restart(3)}, server, lp::index, config);
//
// Every argument after the options goes to the node's constructor. Arguments that are known only at launch are deferred
// (deferred.h): Handle<S> arrives as Client<S>, GroupHandle<S> as Clients<S>, lp::index as int. The constructor is
// checked here, at compile time. Owned by its builder; one thread builds, afterwards any thread may read.

#include <filesystem>
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
  int index = 0;                     // replica number
  const NodeType* type = nullptr;    // null until the node is defined (see declare)
  std::vector<std::string> edges{};  // names of the nodes that it calls, each once, in the order of its arguments
  std::size_t process = 0;  // nodes of equal number share a process (see colocate); by default a node's own position
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

  // Adds options.replicas nodes, for an elastic group the maximum: name/0, name/1, ... Throws Error for more than
  // 65536, and when the program would have more than a million.
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
  // The function may capture configuration and nothing else, because every process builds it anew.
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

  // For cycles: names a node now, so that others can hold its handle. A later `define` completes the node.
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

  // Puts the nodes of these handles into one process, wherever that process runs.
  template <class... Handles>
  void colocate(const Handles&... handles) {
    std::vector<std::string> names;
    (handles.append_nodes(names), ...);
    colocate_nodes(names);
  }

  // Says that the nodes take over the state of another run, which is in this directory and has ended: they read its
  // last checkpoint by themselves, if they have none of their own. So launchers refuse a run that lives, or that had
  // other values in fields which are not lp::adaptable.
  void take_over(std::filesystem::path run) { taken_over_ = std::move(run); }
  const std::filesystem::path& taken_over() const { return taken_over_; }  // empty: none

  const std::string& name() const { return name_; }
  std::span<const GroupSpec> groups() const { return groups_; }
  std::span<const NodeSpec> nodes() const { return nodes_; }
  const GroupSpec& group_of(NodeId node) const { return groups_[nodes_[node].group]; }

  // Returns the position of the node of this name, or nothing.
  std::optional<NodeId> find(std::string_view node) const;
  // Returns the group of this name, or null. A node that was added alone is a group, too.
  const GroupSpec* find_group(std::string_view group) const;

  // Returns the handle of a node or of a group that has been added, by its name: "server", "worker/3". Throws
  // Error::failed when there is none, and when its class neither is S nor has all methods of S.
  template <class S>
  Handle<S> handle(std::string_view node) const {
    check_node(node, internal::interface_of<S>());
    return Handle<S>(std::string(node));
  }
  template <class S>
  GroupHandle<S> group_handle(std::string_view group) const {
    return GroupHandle<S>(std::string(group), check_group(group, internal::interface_of<S>()).size);
  }

  // Returns a hint for messages, to be put after the name of a node or group that is missing: ": 'server' has 2 nodes,
  // from 'server/0' on", "; did you mean server?", or nothing.
  std::string instead_of(std::string_view group) const;

  // Verify the claims of a handle: the node exists and its class serves these methods; the group exists and has this
  // size. Throw Error::failed that names the problem.
  NodeId check_node(std::string_view node, const internal::Interface& service) const;
  const GroupSpec& check_group(std::string_view group, const internal::Interface& service) const;
  const GroupSpec& check_group(std::string_view group, int size) const;

  // Returns a number that is equal for two builds of the same graph. It covers names, options that shape the graph,
  // edges, and, recursively, every method and every field of the types that the methods move.
  std::uint64_t fingerprint() const;

 private:
  bool is_single(const GroupSpec& group) const;  // whether it was added alone, so that its node has its name
  const GroupSpec& group_named(std::string_view group) const;
  void check_class(const NodeSpec& node, const internal::Interface& service) const;
  void add_group(GroupOptions options, bool single);
  void define_group(const std::string& name, const NodeType& type, std::vector<std::string> edges,
                    std::function<std::unique_ptr<NodeObject>(Context&)> build);
  void colocate_nodes(std::span<const std::string> names);

  std::string name_;
  std::filesystem::path taken_over_{};
  std::vector<GroupSpec> groups_;
  std::vector<NodeSpec> nodes_;
  std::map<std::string, NodeId, std::less<>> ids_;
};

}  // namespace lp

#include "lp/program/program.h"

#include <algorithm>

#include "lp/base/error.h"
#include "lp/base/hash.h"
#include "lp/base/text.h"

namespace lp {
namespace {
// A larger number is a mistake: no host has so many threads or processes.
constexpr int kMostReplicas = 65'536;
constexpr std::size_t kMostNodes = 1'000'000;
}  // namespace

std::optional<NodeId> Program::find(std::string_view node) const {
  const auto found = ids_.find(node);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

const GroupSpec* Program::find_group(std::string_view group) const {
  const auto found = std::ranges::find_if(groups_, [&](const GroupSpec& one) { return one.options.name == group; });
  return found == groups_.end() ? nullptr : &*found;
}

NodeId Program::check_node(std::string_view node, const internal::Interface& service) const {
  if (const auto id = find(node)) {
    check_class(nodes_[*id], service);
    return *id;
  }
  throw Error(ErrorKind::failed,
              "program '" + name_ + "' has no node " + quote(node) + instead_of(node.substr(0, node.find('/'))));
}

const GroupSpec& Program::group_named(std::string_view group) const {
  const GroupSpec* const found = find_group(group);
  if (found == nullptr) {
    throw Error(ErrorKind::failed, "program '" + name_ + "' has no group " + quote(group) + instead_of(group));
  }
  if (is_single(*found)) {
    throw Error(ErrorKind::failed,
                "program '" + name_ + "': " + quote(group) + " is one node, not a group: use Run::client");
  }
  return *found;
}

const GroupSpec& Program::check_group(std::string_view group, const internal::Interface& service) const {
  const GroupSpec& found = group_named(group);
  if (found.size > 0) check_class(nodes_[found.first], service);
  return found;
}

const GroupSpec& Program::check_group(std::string_view group, int size) const {
  const GroupSpec& found = group_named(group);
  if (found.size != size) {
    throw Error(ErrorKind::failed, "a handle says that group '" + std::string(group) + "' has " + std::to_string(size) +
                                       " nodes, and in program '" + name_ + "' it has " + std::to_string(found.size) +
                                       ": use the handle that Program::group returned");
  }
  return found;
}

void Program::check_class(const NodeSpec& node, const internal::Interface& service) const {
  if (node.type == nullptr || node.type->name == service.class_name) return;
  const auto serves = [&](std::uint64_t id) {
    return std::ranges::binary_search(node.type->methods, id, {}, &rpc::Method::id);
  };
  if (std::ranges::all_of(service.methods, serves)) return;
  throw Error(ErrorKind::failed, "node '" + node.name + "' of program '" + name_ + "' is a " +
                                     std::string(node.type->name) + ", which does not have all methods of " +
                                     std::string(service.class_name));
}

std::string Program::instead_of(std::string_view group) const {
  const std::string name(group);
  if (const GroupSpec* const found = find_group(group)) {
    if (is_single(*found)) return ": '" + name + "' is one node";
    return ": '" + name + "' has " + std::to_string(found->size) + " nodes, from '" + name + "/0' on";
  }
  std::vector<std::string> names;
  for (const GroupSpec& one : groups_) names.push_back(one.options.name);
  return did_you_mean(group, names);
}

bool Program::is_single(const GroupSpec& group) const {
  return group.size == 1 && nodes_[group.first].name == group.options.name;
}

void Program::add_group(GroupOptions options, bool single) {
  const int size = single ? 1 : std::max(options.replicas.most, 0);
  if (find_group(options.name) != nullptr) {
    throw Error(ErrorKind::failed,
                "program '" + name_ + "' has two groups named '" + options.name + "': give one another name");
  }
  if (size > kMostReplicas) {
    throw Error(ErrorKind::failed, "program '" + name_ + "': group '" + options.name + "' has " +
                                       to_string(options.replicas) + " replicas, but a group can have " +
                                       std::to_string(kMostReplicas) + " at most: give it fewer replicas");
  }
  if (nodes_.size() + static_cast<std::size_t>(size) > kMostNodes) {
    throw Error(ErrorKind::failed, "program '" + name_ + "' has " +
                                       std::to_string(nodes_.size() + static_cast<std::size_t>(size)) +
                                       " nodes with group '" + options.name + "', but a program can have " +
                                       std::to_string(kMostNodes) + " at most: give its groups fewer replicas");
  }
  const auto first = static_cast<NodeId>(nodes_.size());
  for (int i = 0; i < size; ++i) {
    NodeSpec node;
    node.name = single ? options.name : options.name + "/" + std::to_string(i);
    node.group = groups_.size();
    node.index = i;
    node.process = nodes_.size();
    if (!ids_.emplace(node.name, static_cast<NodeId>(nodes_.size())).second) {
      throw Error(ErrorKind::failed,
                  "program '" + name_ + "' has two nodes named '" + node.name + "': give one another name");
    }
    nodes_.push_back(std::move(node));
  }
  groups_.push_back({.options = std::move(options), .first = first, .size = size});
}

void Program::define_group(const std::string& name, const NodeType& type, std::vector<std::string> edges,
                           std::function<std::unique_ptr<NodeObject>(Context&)> build) {
  const GroupSpec* const group = find_group(name);
  if (group == nullptr) {
    throw Error(ErrorKind::failed, "program '" + name_ + "' has no declared node '" + name + "'");
  }
  for (int i = 0; i < group->size; ++i) {
    NodeSpec& node = nodes_[group->first + static_cast<NodeId>(i)];
    if (node.type != nullptr) throw Error(ErrorKind::failed, "node '" + node.name + "' is defined twice");
    node.type = &type;
    node.edges = edges;
    node.build = build;
  }
}

void Program::colocate_nodes(std::span<const std::string> names) {
  std::vector<NodeId> members;
  for (const std::string& node : names) {
    const auto id = find(node);
    if (!id) throw Error(ErrorKind::failed, "colocate: program '" + name_ + "' has no node '" + node + "'");
    members.push_back(*id);
  }
  if (members.empty()) return;
  std::size_t process = nodes_[members[0]].process;
  for (const NodeId member : members) process = std::min(process, nodes_[member].process);
  for (const NodeId member : members) {
    const std::size_t joined = nodes_[member].process;  // with all nodes that it was colocated with before
    for (NodeSpec& node : nodes_) {
      if (node.process == joined) node.process = process;
    }
  }
}

std::uint64_t Program::fingerprint() const {
  std::uint64_t hash = fnv1a(name_);
  for (const NodeSpec& node : nodes_) {
    hash = hash_combine(hash, fnv1a(node.name));
    hash = hash_combine(hash, node.process);
    for (const std::string& edge : node.edges) hash = hash_combine(hash, fnv1a(edge));
    if (node.type == nullptr) continue;
    hash = hash_combine(hash, fnv1a(node.type->name));
    for (const rpc::Method& method : node.type->methods) {
      hash = hash_combine(hash_combine(hash, method.id), method.shape);
    }
  }
  return hash;
}

}  // namespace lp

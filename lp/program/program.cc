#include "lp/program/program.h"

#include <algorithm>

#include "lp/base/error.h"
#include "lp/base/hash.h"

namespace lp {
namespace {
// More is a slip: no host has so many threads or processes.
constexpr int kMostReplicas = 65'536;
constexpr std::size_t kMostNodes = 1'000'000;
}  // namespace

std::optional<NodeId> Program::find(std::string_view node) const {
  const auto found = ids_.find(node);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

void Program::add_group(GroupOptions options, bool single) {
  const int size = single ? 1 : std::max(options.replicas.most, 0);
  for (const GroupSpec& group : groups_) {
    if (group.options.name == options.name) {
      throw Error(ErrorKind::failed,
                  "program '" + name_ + "' has two groups named '" + options.name + "': give one another name");
    }
  }
  if (size > kMostReplicas) {
    throw Error(ErrorKind::failed, "program '" + name_ + "': group '" + options.name + "' has " +
                                       to_string(options.replicas) + " replicas, and a group has " +
                                       std::to_string(kMostReplicas) + " at most: give it fewer");
  }
  if (nodes_.size() + static_cast<std::size_t>(size) > kMostNodes) {
    throw Error(ErrorKind::failed, "program '" + name_ + "' has " +
                                       std::to_string(nodes_.size() + static_cast<std::size_t>(size)) +
                                       " nodes with group '" + options.name + "', and a program has " +
                                       std::to_string(kMostNodes) + " at most: give its groups fewer");
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
  const auto group =
      std::find_if(groups_.begin(), groups_.end(), [&](const GroupSpec& one) { return one.options.name == name; });
  if (group == groups_.end()) {
    throw Error(ErrorKind::failed, "program '" + name_ + "' never declared '" + name + "'");
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
    const std::size_t joined = nodes_[member].process;  // with all that it was colocated with before
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
    for (const internal::Method& method : node.type->methods) {
      hash = hash_combine(hash_combine(hash, method.id), method.shape);
    }
  }
  return hash;
}

}  // namespace lp

#pragma once
// Names of nodes while the graph is built. A Handle cannot be called: a node that takes a Handle as argument receives a
// Client. Program::add and Program::group return handles, and Program::handle finds them by name. A handle that was
// made by hand is refused where it is used, unless a node of the program has its name and class, and a group its size.
// Values; they copy.

#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include "lp/program/context.h"
#include "lp/program/interface.h"
#include "lp/rpc/client.h"
#include "lp/rpc/clients.h"

namespace lp {

template <class S>
class Handle {
 public:
  explicit Handle(std::string name) : name_(std::move(name)) {}

  // A handle to a service is also a handle to the interface that it implements.
  template <class D>
    requires(std::derived_from<D, S> && !std::same_as<D, S>)
  Handle(const Handle<D>& other) : name_(other.name()) {
    static_assert(internal::implements<S, D>(), "lp: this service's Remote lacks a method of its base's Remote");
  }

  const std::string& name() const { return name_; }
  Client<S> dereference(Context& caller) const { return Client<S>(caller.edge(name_, internal::interface_of<S>())); }
  void append_nodes(std::vector<std::string>& names) const { names.push_back(name_); }

 private:
  std::string name_;
};

// Handles of the nodes of a group, in order. A handle of size 0 names no group: that edge is left out.
template <class S>
class GroupHandle {
 public:
  GroupHandle(std::string name, int size) : name_(std::move(name)), size_(size) {}
  template <class D>
    requires(std::derived_from<D, S> && !std::same_as<D, S>)
  GroupHandle(const GroupHandle<D>& other) : name_(other.name()), size_(other.size()) {
    static_assert(internal::implements<S, D>(), "lp: this service's Remote lacks a method of its base's Remote");
  }

  const std::string& name() const { return name_; }
  int size() const { return size_; }
  Handle<S> operator[](int replica) const { return Handle<S>(name_ + "/" + std::to_string(replica)); }

  Clients<S> dereference(Context& caller) const {
    std::vector<Client<S>> all;
    for (int i = 0; i < size_; ++i) all.push_back((*this)[i].dereference(caller));
    return Clients<S>(std::move(all), caller.membership(name_, size_));
  }
  void append_nodes(std::vector<std::string>& names) const {
    for (int i = 0; i < size_; ++i) (*this)[i].append_nodes(names);
  }

 private:
  std::string name_;
  int size_;
};

}  // namespace lp

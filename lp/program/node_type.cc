#include "lp/program/node_type.h"

#include "lp/base/hash.h"

namespace lp::internal {

std::vector<rpc::Method> methods_of(std::span<const MethodEntry> entries) {
  std::vector<rpc::Method> methods;
  for (const MethodEntry& entry : entries) {
    rpc::Method& method = methods.emplace_back(entry.method);
    for (const Shape* shape = entry.shapes; *shape != nullptr; ++shape) {
      method.shape = hash_combine(method.shape, (*shape)());
    }
  }
  std::sort(methods.begin(), methods.end(), [](const rpc::Method& a, const rpc::Method& b) { return a.id < b.id; });
  return methods;
}

}  // namespace lp::internal

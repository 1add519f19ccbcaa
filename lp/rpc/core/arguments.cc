#include "lp/rpc/core/arguments.h"

#include <cstdint>

namespace lp::rpc {

void* aligned(void* room, std::size_t alignment) {
  const std::size_t beyond = reinterpret_cast<std::uintptr_t>(room) % alignment;
  return static_cast<std::byte*>(room) + (beyond == 0 ? 0 : alignment - beyond);
}

CopiedArguments::CopiedArguments(const ArgumentsOps& ops, const void* arguments) : ops_(ops) {
  void* room = near_.data();
  if (ops.size + ops.alignment > near_.size()) {
    far_ = std::make_unique<std::byte[]>(ops.size + ops.alignment);
    room = far_.get();
  }
  place_ = aligned(room, ops.alignment);
  ops.copy(place_, arguments);
}

}  // namespace lp::rpc

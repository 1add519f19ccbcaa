#pragma once
// How a message stands in a lane: MessageHead, `returned` numbers of leases, `arrays` times ArrayHead, the body, and
// the arrays that are not on a heap. Nothing is aligned. A message without body and arrays only gives leases back.

#include <cstddef>
#include <cstdint>

namespace lp::internal {

struct MessageHead {
  std::uint64_t body = 0;  // bytes
  std::uint32_t arrays = 0;
  std::uint32_t returned = 0;
};

struct ArrayHead {
  static constexpr std::uint64_t kInline = ~std::uint64_t{0};

  std::uint64_t size = 0;
  std::uint64_t offset = kInline;  // in the sender's heap
  std::uint64_t lease = 0;         // the sender keeps the array until this comes back
};

inline constexpr std::uint32_t kMostReturned = 256;  // leases in one message

}  // namespace lp::internal

#pragma once
// The format of a message in a lane: MessageHead, `arrays` times ArrayHead, the body, and the arrays that are not on a
// heap. Nothing is aligned.

#include <cstdint>

namespace lp::rpc {

struct MessageHead {
  std::uint64_t body = 0;  // bytes
  std::uint64_t arrays = 0;
};

struct ArrayHead {
  static constexpr std::uint64_t kInline = ~std::uint64_t{0};

  std::uint64_t size = 0;
  std::uint64_t offset = kInline;  // offset in the sender's heap
  std::uint64_t lease = 0;         // the sender keeps the array until this lease comes back
};

}  // namespace lp::rpc

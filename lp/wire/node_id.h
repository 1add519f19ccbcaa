#pragma once
// The number of a node in its program: its index in Program::nodes(). A value.

#include <cstdint>

namespace lp {

using NodeId = std::uint32_t;

}  // namespace lp

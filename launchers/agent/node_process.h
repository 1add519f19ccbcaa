#pragma once
// A process that is one or several nodes of a program: its main() between the agent's control connection and a Runtime.

#include <string>

namespace lp {
class Programs;
namespace internal {

// Becomes what the control connection `control` says; `name` is for messages. Returns the exit code: 0 when all its
// nodes ended well, 1 when one failed.
int run_node(int control, const std::string& name, const Programs& programs);

}  // namespace internal
}  // namespace lp

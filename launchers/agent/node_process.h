#pragma once
// A process that is one or several nodes of a program. Its main() connects a Runtime to the agent's control connection.

#include <string>

namespace lp {
class Programs;
namespace launch {

// Runs the nodes that the launcher assigns over the control connection `control`. `name` is for messages. Returns the
// exit code: 0 when all its nodes ended well, 1 when one failed.
int run_node(int control, const std::string& name, const Programs& programs);

}  // namespace launch
}  // namespace lp

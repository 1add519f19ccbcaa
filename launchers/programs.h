#pragma once
// What a main() without lp::main calls first: a process that a launcher started becomes the node or the agent that it
// was started for. A function; to be called before there are threads.
//
//   int main(int argc, char** argv) {
//     const lp::Programs programs = lp::Programs().add<Config>("train", make_train).add("ring", make_ring);
//     if (const auto code = lp::become_node_if_asked(argc, argv, programs)) return *code;
//     ...                                               // may launch processes of these programs
//   }

#include <optional>

#include "launchers/agent/program_registry.h"  // IWYU pragma: export

namespace lp {

// In a process that a launcher started from this binary, as an agent or as a node: does that work, and returns the exit
// code, with which main() must end, or the process would launch the program once more. Nothing in a process that a
// person started. To be called first in main(), before there are threads.
[[nodiscard]] std::optional<int> become_node_if_asked(int argc, char** argv, const Programs& programs);

}  // namespace lp

#pragma once
// A main() without lp::main calls this function first. In a process that a launcher started, it runs the node or the
// agent. Call it before there are threads.
//
//   int main(int argc, char** argv) {
//     const lp::Programs programs = lp::Programs().add<Config>("train", make_train).add("ring", make_ring);
//     if (const auto code = lp::become_node_if_asked(argc, argv, programs)) return *code;
//     return run_tests();  // may launch processes of these programs
//   }

#include <optional>

#include "launchers/agent/program_registry.h"  // IWYU pragma: export

namespace lp {

// If a launcher started this process as an agent or as a node, does that work and returns the exit code. main() must
// then return that code; otherwise the process would launch the program once more. Returns nothing in a process that a
// person started. main() calls it first, before there are threads.
[[nodiscard]] std::optional<int> become_node_if_asked(int argc, char** argv, const Programs& programs);

}  // namespace lp

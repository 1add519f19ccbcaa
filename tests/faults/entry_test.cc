// The main() of this folder's tests, and of the programs and processes that they launch.

#include <gtest/gtest.h>

#include <string_view>

#include "launchers/main.h"
#include "tests/faults/programs_for_test.h"

int main(int argc, char** argv) {
  using namespace lp::test;  // NOLINT: a main of a test
  if (const auto code = lp::become_node_if_asked(argc, argv, programs())) return *code;
  // Runs as a program with flags, for the tests of a user's command lines.
  if (argc > 1 && std::string_view(argv[1]) == "program") {
    return lp::main<Config>(argc - 1, argv + 1,
                            lp::NamedPrograms<Config>{{"services", make_services},
                                                      {"saving", make_saving},
                                                      {"ledger", make_ledger},
                                                      {"ring", make_ring},
                                                      {"bad", make_bad}});
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

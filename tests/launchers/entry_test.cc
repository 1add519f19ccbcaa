// The main() of this folder's tests, and of the processes that they launch.

#include <gtest/gtest.h>

#include <cstdio>
#include <string_view>

#include "launchers/main.h"
#include "tests/launchers/engines_for_test.h"
#include "tests/launchers/programs_for_test.h"
#include "tests/launchers/replicated_program.h"

namespace {

struct Result {
  int total = 0;
  std::vector<int> list{};
};

Result report(lp::Run& run, const lp::test::Config& config) {
  if (run.program().name() == "replicated") {
    const auto replicas = run.client(lp::GroupHandle<lp::test::Replica>("replica", config.workers.most)).latest();
    return {.total = replicas[0].call<&lp::test::Replica::state>().sum};
  }
  if (run.program().name() != "counting") return {};
  const int total = run.client<lp::test::Counter>("counter").call<&lp::test::Counter::total>();
  return {.total = total, .list = {config.workers.most, config.steps}};
}

// A main() that goes on where it should have ended. The processes that it launches do end.
int launch_in_any_case(int argc, char** argv) {
  static_cast<void>(lp::become_node_if_asked(argc, argv, lp::test::programs()));
  try {
    lp::Run run(
        lp::test::make_counting({}),
        {.launch = lp::LaunchType::processes, .entry = "program", .configuration = lp::to_yaml(lp::test::Config{})});
    return run.wait().exit_code();
  } catch (const lp::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "careless") return launch_in_any_case(argc, argv);
  if (const auto code = lp::become_node_if_asked(argc, argv, lp::test::programs())) return *code;
  // Runs as a program with flags, for the tests of lp::main.
  if (argc > 1 && std::string_view(argv[1]) == "program") {
    return lp::main<lp::test::Config>(argc - 1, argv + 1,
                                      {{"program", lp::test::make_counting},
                                       {"saving", lp::test::make_saving},
                                       {"replicated", lp::test::make_replicated}},
                                      report, lp::test::test_engines());
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

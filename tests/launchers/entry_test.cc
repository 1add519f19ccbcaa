// The main() of this folder's tests: it is also that of the processes that they launch.

#include <gtest/gtest.h>

#include <string_view>

#include "launchers/main.h"
#include "tests/launchers/programs_for_test.h"

namespace {

struct Result {
  int total = 0;
  std::vector<int> list{};
};

Result report(lp::Run& run, const lp::test::Config& config) {
  if (run.program().name() != "counting") return {};
  const int total = run.client(lp::Handle<lp::test::Counter>("counter")).call<&lp::test::Counter::total>();
  return {.total = total, .list = {config.workers.most, config.steps}};
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto code = lp::become_node_if_asked(argc, argv, lp::test::programs())) return *code;
  // As a program with flags, for the tests of lp::main.
  if (argc > 1 && std::string_view(argv[1]) == "program") {
    return lp::main<lp::test::Config>(
        argc - 1, argv + 1, {{"program", lp::test::make_counting}, {"saving", lp::test::make_saving}}, report);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

#pragma once
// Runs a program inside a test of GoogleTest or another framework. When the TestRun goes out of scope, nothing of the
// program is left.
//
//   TEST(Worker, Counts) {
//     lp::Program p("test");
//     auto counter = p.add<Counter>({.name = "counter"});
//     p.group<Worker>({.name = "worker", .replicas = 2}, counter);
//     // Workers serve, but their run() is not called.
//     lp::TestRun run(std::move(p), {.idle = {"worker"}});
//     EXPECT_EQ(run.client(counter).call<&Counter::value>(), 0);
//   }
//
// Processes need a main() that begins with
// `if (const auto code = lp::become_node_if_asked(argc, argv, programs)) return *code;`, before it runs the tests.

#include <utility>

#include "launchers/run.h"
#include "lp/base/error.h"

namespace lp {

class TestRun : public Run {
 public:
  // Returns when every node serves. Throws Error with the cause when that does not happen within a minute.
  explicit TestRun(Program program, LaunchOptions options = {}) : Run(std::move(program), std::move(options)) {
    constexpr auto kReadyTimeout = std::chrono::minutes(1);
    if (wait_ready(kReadyTimeout)) return;
    kill();
    throw Error(ErrorKind::failed, "the program did not start: " + wait().cause.text());
  }
};

}  // namespace lp

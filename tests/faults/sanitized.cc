// A program whose worker/1 makes an error that a sanitizer stops. It is built with sanitizers in every preset except
// tsan, which excludes them; see sanitizer_test.cc.

#include <climits>
#include <string>
#include <vector>

#include "launchers/main.h"
#include "lp/lp.h"

namespace {

struct Config {
  std::string mode{};
};

class Worker {
 public:
  Worker(int index, Config config) : index_(index), config_(std::move(config)) {}
  void run(lp::Context& context) {
    if (index_ == 1) fail();
    context.wait_for_stop();
  }

 private:
  void fail() {
    std::fprintf(stderr, "about to fail\n");
    if (config_.mode == "overflow") {
      const std::vector<int> numbers(4);
      sum_ = numbers.data()[index_ + 3];
    } else {
      sum_ = INT_MAX;
      sum_ += index_;
    }
  }

  int index_;
  Config config_;
  int sum_ = 0;
};

lp::Program make_program(const Config& config) {
  lp::Program program("sanitized");
  program.group<Worker>({.name = "worker", .replicas = 3}, lp::index, config);
  return program;
}

}  // namespace

int main(int argc, char** argv) { return lp::main<Config>(argc, argv, make_program); }

// allreduce_lp RANKS [LARGEST]: lp's allreduce among RANKS processes, up to LARGEST bytes.

#include <cstdlib>
#include <utility>
#include <vector>

#include "launchers/programs.h"
#include "launchers/run.h"
#include "nodes/collective/collective.h"
#include "tests/bench/allreduce/measure.h"

namespace {

struct Config {
  int ranks = 2;
  std::uint64_t largest = kLargest;
};

class Worker {
 public:
  Worker(lp::Clients<lp::CollectiveMember> all, int index, const Config& config)
      : collective_(std::move(all), static_cast<std::uint32_t>(index)), largest_(config.largest) {}

  void run(lp::Context& node) {
    collective_.join();
    const std::vector<Timed> times = measure<lp::Array<float>>(
        largest_, [&](lp::Array<float>& values) { collective_.allreduce(values); }, [&] { collective_.barrier(); });
    node.exclusive([&] { times_ = times; });
  }
  std::vector<Timed> times() const { return times_; }
  using Remote = lp::Methods<&Worker::times>;

 private:
  lp::Collective collective_;
  const std::size_t largest_;
  std::vector<Timed> times_{};
};

lp::Program make_program(const Config& config) {
  lp::Program program("allreduce");
  auto members = program.group<lp::CollectiveMember>({.name = "collective", .replicas = config.ranks}, lp::context);
  auto workers = program.group<Worker>({.name = "worker", .replicas = config.ranks, .ends_program = true}, members,
                                       lp::index, config);
  for (int i = 0; i < config.ranks; ++i) program.colocate(members[i], workers[i]);
  return program;
}

}  // namespace

int main(int argc, char** argv) {
  const lp::Programs programs = lp::Programs().add<Config>("allreduce", make_program);
  if (const auto code = lp::become_node_if_asked(argc, argv, programs)) return *code;
  Config config;
  if (argc > 1) config.ranks = std::atoi(argv[1]);
  if (argc > 2) config.largest = std::strtoull(argv[2], nullptr, 10);
  lp::LaunchOptions options{
      .launch = lp::LaunchType::processes, .entry = "allreduce", .configuration = lp::to_yaml(config)};
  options.report = [](lp::Run& run) { print(run.client(lp::Handle<Worker>("worker/0")).call<&Worker::times>()); };
  lp::Run run(make_program(config), options);
  if (run.wait().success) return 0;
  std::fprintf(stderr, "failed: %s\n", run.wait().cause.text().c_str());
  return 1;
}

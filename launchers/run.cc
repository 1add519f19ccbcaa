#include "launchers/run.h"

#include <functional>
#include <utility>

#include "launchers/all_engines.h"
#include "launchers/run/run_state.h"

namespace lp {
namespace {

launch::Launch launch_of(Program program, LaunchOptions options) {
  if (options.engines == nullptr) options.engines = &launch::engines();
  return launch::Launch(std::move(program), std::move(options));
}

std::function<void()> report_of(const launch::Launch& launch, Run& run) {
  if (!launch.options.report) return {};
  return [report = launch.options.report, &run] { report(run); };
}

}  // namespace

Run::Run(Program program, LaunchOptions options) : Run(launch_of(std::move(program), std::move(options))) {}

Run::Run(launch::Launch launch) {
  auto report = report_of(launch, *this);
  state_ = std::make_unique<launch::RunState>(std::move(launch), std::move(report));
  state_->start();  // from now on others use this Run, for example a report
}

Run::~Run() = default;

const RunResult& Run::wait() {
  state_->wait_ended(kNever);
  return state_->result();
}

bool Run::wait_for(Duration duration) { return state_->wait_ended(after(duration)); }
bool Run::wait_ready(Duration duration) { return state_->wait_ready(after(duration)); }

void Run::stop(const std::string& reason) {
  state_->post([reason](launch::Coordinator& coordinator) { coordinator.stop(reason); });
}

void Run::kill() {
  state_->post([](launch::Coordinator& coordinator) { coordinator.kill(); });
}

void Run::keep_report(std::string json) { state_->keep_report(std::move(json)); }
NodeCurves Run::curves(const std::string& node) const { return state_->curves(node); }
RunStatus Run::status() const { return state_->status(); }
std::string Run::metrics_url() const { return state_->metrics_url(); }
const std::string& Run::name() const { return state_->launch().name; }
const std::filesystem::path& Run::directory() const { return state_->launch().options.directory; }
const Program& Run::program() const { return *state_->launch().program; }
std::uint64_t Run::seed() const { return state_->launch().options.seed; }
std::vector<std::string> Run::processes() const { return state_->processes(); }
Runtime& Run::runtime() { return state_->runtime(); }

}  // namespace lp

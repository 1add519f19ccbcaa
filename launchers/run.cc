#include "launchers/run.h"

#include <utility>

#include "launchers/run_state.h"

namespace lp {

Run::Run(Program program, LaunchOptions options)
    : state_(std::make_unique<State>(*this, std::move(program), std::move(options))) {
  state_->start();  // from now on others use this Run, for example a report
}

Run::~Run() = default;

const RunResult& Run::wait() {
  state_->wait_ended(kNever);
  return state_->result;
}

bool Run::wait_for(Duration duration) { return state_->wait_ended(after(duration)); }
bool Run::wait_ready(Duration duration) { return state_->wait_ready(after(duration)); }

void Run::stop(const std::string& reason) {
  state_->post([reason](internal::Coordinator& coordinator) { coordinator.stop(reason); });
}

void Run::kill() {
  state_->post([](internal::Coordinator& coordinator) { coordinator.kill(); });
}

void Run::keep_report(std::string json) { state_->keep_report(std::move(json)); }
RunStatus Run::status() const { return state_->status(); }
const std::string& Run::name() const { return state_->name; }
const std::filesystem::path& Run::directory() const { return state_->options.directory; }
const Program& Run::program() const { return state_->program; }
std::uint64_t Run::seed() const { return state_->options.seed; }
std::vector<std::string> Run::processes() const { return state_->units(); }
Runtime& Run::runtime() { return state_->runtime(); }

}  // namespace lp

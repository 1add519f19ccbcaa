#pragma once
// The way to a run's admin socket from another host. The engine of the run (srun, kubectl) or ssh starts the run's
// own program beside the coordinator. The standard input and output of that process are then a connection to the
// socket. So nothing listens, and the engine decides who may connect. Functions without state.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "launchers/record/records.h"

namespace lp::launch {

inline constexpr std::string_view kRelayReady = "lp-relay: ready";  // the connection begins after this line

// Copies standard input to the socket in `directory`, and the socket to standard output, until either ends. Returns the
// exit code of the process. Call it before there are threads.
int run_relay(const std::filesystem::path& directory);

// The flag with which the run's program becomes the relay, on the coordinator's host.
std::string relay_flag(const RunRecord& record);

// The command that starts the relay of a run that has no job, on the host of its launcher.
std::vector<std::string> relay_by_ssh(const RunRecord& record);

}  // namespace lp::launch

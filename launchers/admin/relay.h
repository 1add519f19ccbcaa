#pragma once
// The way to a run's control socket from another host: the engine that has the run (srun, kubectl) or ssh starts the
// run's own program beside the coordinator, and what that reads and writes is then a connection to the socket. So
// nothing listens, and who gets there is decided by the engine. Functions without state.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "launchers/record/records.h"

namespace lp::internal {

inline constexpr std::string_view kRelayReady = "lp-relay: ready";  // the line behind which the connection begins

// Passes on what comes from standard input to the socket in `directory`, and what comes from there to standard output,
// until either ends. Returns the exit code of the process. To be called before there are threads.
int run_relay(const std::filesystem::path& directory);

// The command that does so from this host, for the coordinator of the run on `host`, as the engine calls that;
// `heterogeneous`: in the first component of its job.
std::vector<std::string> relay_command(const RunRecord& record, const std::string& host, bool heterogeneous);

}  // namespace lp::internal

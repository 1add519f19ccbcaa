#pragma once
// An agent's own host, as it reports it to a launcher on another one. Functions without state.

#include <filesystem>
#include <string>

namespace lp::control {
struct HelloT;
}  // namespace lp::control

namespace lp::internal {

// Returns the resources of this host. `directory` receives the files that nodes save.
control::HelloT hello_of_this_host(const std::filesystem::path& directory);

// Makes ~/.cache/lp/runs/RUN-XXXXXX for the files that nodes of a run save here, until they are sent. Returns an empty
// path, and logs why, when that is impossible.
std::filesystem::path make_own_directory(const std::string& run);

}  // namespace lp::internal

#pragma once
// The command line with which the program runs again elsewhere: in a job or in a pod.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lp::internal {

// This binary's path and its flags, without those in `left_out`, which only the submitting process uses. A name in
// `left_out` that ends with '=' is a flag with a value. The flags are read from the process itself, because main may
// have received only a part of them.
std::vector<std::string> relaunch_command(std::span<const std::string_view> left_out);

}  // namespace lp::internal

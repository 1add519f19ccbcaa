#pragma once
// The command line with which the program runs again elsewhere: in a job or in a pod.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lp::internal {

// The command line of this process, word by word. It is read from the system, because main() may have received only a
// part of it.
std::vector<std::string> own_command_line();

// This binary's path and its flags, without those in `left_out`, which only the submitting process uses. A name in
// `left_out` that ends with '=' is a flag with a value.
std::vector<std::string> relaunch_command(std::span<const std::string_view> left_out);

}  // namespace lp::internal

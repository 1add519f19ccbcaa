#pragma once
// The command line of this process, as it goes on to where the program runs again: in a job, in a pod.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lp::internal {

// This binary's path and its flags without those of `left_out`, which are for the submitting process alone; those of
// them that take a value end with '='. Not what main was given: that may be a part of it.
std::vector<std::string> own_command(std::span<const std::string_view> left_out);

}  // namespace lp::internal

#pragma once
// Patterns of inputs that a user names. Pure functions of the file system.
//
// Patterns are as a shell has them: with *, ?, [...], and alternatives in braces, {a,b}, which may be nested and have
// slashes. A backslash takes the meaning from the next character. The search for inputs, and the check that no result
// becomes one, understand the same patterns by these functions.

#include <filesystem>
#include <functional>
#include <string>
#include <system_error>
#include <vector>

namespace lp::dataflow {

// The patterns without alternatives that a pattern means, in their order. Braces that do not end are no alternatives.
std::vector<std::string> alternatives_of(const std::string& pattern);

// The paths that match a pattern without alternatives, and are directories if only these are asked for. `unlisted` is
// called for each directory that cannot be listed.
using Unlisted = std::function<void(const std::string& path, std::error_code error)>;
std::vector<std::string> paths_like(const std::string& pattern, bool directories, const Unlisted& unlisted);

// Whether a path would match a pattern without alternatives, if it existed.
bool is_like(const std::string& path, const std::string& pattern);

}  // namespace lp::dataflow

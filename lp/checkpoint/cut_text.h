#pragma once
// Describes the saved state of a run for people and for tools: cuts, their members, and their contents. It reads heads
// and indices, no contents. Any thread.

#include <filesystem>
#include <string>

#include "lp/checkpoint/cut.h"

namespace lp {

std::string cuts_to_text(const std::filesystem::path& run);
std::string cuts_to_json(const std::filesystem::path& run);  // one line

}  // namespace lp

#pragma once
// What a run has saved, for people and for tools: cuts, their members, and what is in them. Reads heads and indices, no
// contents. Any thread.

#include <filesystem>
#include <string>

#include "lp/checkpoint/cut.h"

namespace lp {

std::string cuts_to_text(const std::filesystem::path& run);
std::string cuts_to_json(const std::filesystem::path& run);  // one line

}  // namespace lp

#pragma once
// Determines the kind of machine for which a program is built. Functions.

#include <cstdint>
#include <filesystem>

namespace lp::tool {

// The machine's number in ELF: EM_X86_64. 0: the file is no such program, or does not exist.
std::uint16_t machine_of(const std::filesystem::path& binary);

// Throws CommandError(failed) for a program that is for another kind of machine than this one.
void refuse_other_machine(const std::filesystem::path& binary);

}  // namespace lp::tool

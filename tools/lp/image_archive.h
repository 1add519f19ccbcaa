#pragma once
// A container image with one program and the shared libraries that it needs, as an archive that needs neither a daemon
// nor a network to be made: an OCI image layout, which is also what `docker load` and `ctr images import` take. The
// same files give the same bytes. Functions.

#include <filesystem>
#include <string>
#include <vector>

namespace lp::tool {

// Those that the loader finds for the program, and the loader itself. Throws Refusal(failed), naming those that are
// missing, and for what is no program of this kind of machine.
std::vector<std::filesystem::path> libraries_of(const std::filesystem::path& binary);

// Writes the archive. `tag` is NAME:TAG. The program becomes the entry point, and runs as a user without rights. Throws
// Refusal(failed) when it cannot be written.
void write_image(const std::filesystem::path& binary, const std::string& tag, const std::filesystem::path& archive);

}  // namespace lp::tool

#pragma once
// Packs a program and its shared libraries into a container image. The archive needs neither a daemon nor a network. It
// is an OCI image layout, which `docker load` and `ctr images import` accept, too. The same files give the same bytes.
// Functions.

#include <filesystem>
#include <string>
#include <vector>

namespace lp::tool {

// The libraries that the loader finds for the program, and the loader itself. Throws CommandError(failed) with the
// names of missing libraries, and for a file that is no program of this kind of machine.
std::vector<std::filesystem::path> libraries_of(const std::filesystem::path& binary);

// Writes the archive. `tag` is NAME:TAG. The program becomes the entry point, and runs as a user without rights. Throws
// CommandError(failed) when it cannot be written.
void write_image(const std::filesystem::path& binary, const std::string& tag, const std::filesystem::path& archive);

}  // namespace lp::tool

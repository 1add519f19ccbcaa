#include "programs/data/output_files.h"

#include <system_error>

#include "lp/base/error.h"

namespace lp {
namespace {

bool are_same(const std::filesystem::path& one, const std::filesystem::path& other) {
  std::error_code error;
  if (std::filesystem::equivalent(one, other, error)) return true;
  const auto name_of = [&](const std::filesystem::path& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path), error);
  };
  return name_of(one) == name_of(other);
}

void check_pair(const NamedFile& output, const NamedFile& other, const char* effect) {
  if (output.path.empty() || other.path.empty() || !are_same(output.path, other.path)) return;
  throw Error(ErrorKind::failed, output.option + ": " + output.path.string() + " is also the file of " + other.option +
                                     ", which would be " + effect + ": give another file");
}

}  // namespace

void check_outputs(std::span<const NamedFile> outputs, std::span<const NamedFile> inputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (const NamedFile& input : inputs) check_pair(outputs[i], input, "replaced");
    for (std::size_t other = 0; other < i; ++other) check_pair(outputs[i], outputs[other], "lost");
  }
}

}  // namespace lp

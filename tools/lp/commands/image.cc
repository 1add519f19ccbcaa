// lp image: packs a program into a container image for --launch=kubernetes.

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>
#include <string_view>

#include "launchers/engines/kubernetes/pod_environment.h"
#include "lp/base/text.h"
#include "tools/lp/command.h"
#include "tools/lp/image_archive.h"

namespace lp::tool {
namespace {

// Turns "Digits" into "digits:latest".
std::string tag_of(const std::filesystem::path& binary) { return launch::cluster_name(binary.filename()) + ":latest"; }

bool is_tag(const std::string& tag) {
  const std::size_t colon = tag.rfind(':');
  const auto may_stand = [](unsigned char one) {
    return std::islower(one) != 0 || std::isdigit(one) != 0 ||
           std::string_view("._-/:").find(static_cast<char>(one)) != std::string_view::npos;
  };
  return colon != std::string::npos && colon > 0 && colon + 1 < tag.size() &&
         tag.find('/', colon) == std::string::npos &&
         std::all_of(tag.begin(), tag.begin() + static_cast<std::ptrdiff_t>(colon), may_stand);
}

}  // namespace

int image_command(const Arguments& arguments, Screen& screen) {
  const std::filesystem::path binary = arguments.words()[0];
  const std::string tag = arguments.has("tag") ? arguments.value("tag") : tag_of(binary);
  if (!is_tag(tag)) throw CommandError(Exit::usage, "--tag=" + quote(tag) + ": expected NAME:TAG in small letters");
  const std::filesystem::path archive =
      arguments.has("output") ? arguments.value("output") : binary.filename().string() + ".tar";
  write_image(binary, tag, archive);
  screen.write(Screen::clean(archive.string()) + ": " + tag + "\n");
  return code_of(Exit::done);
}

}  // namespace lp::tool

#include "launchers/os/clock_name.h"

#include <filesystem>
#include <fstream>
#include <system_error>

namespace lp::launch {

std::string clock_name() {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  std::error_code none;  // a kernel without time namespaces
  return boot + " " + std::filesystem::read_symlink("/proc/self/ns/time", none).string();
}

}  // namespace lp::launch

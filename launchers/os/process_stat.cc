#include "launchers/os/process_stat.h"

#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <fstream>
#include <sstream>

namespace lp::launch {

std::optional<ProcessStat> process_stat(const std::string& directory) {
  std::ifstream file(directory + "/stat");
  std::ostringstream text;
  text << file.rdbuf();  // a name may have line breaks
  const std::string line = text.str();
  // "NUMBER (NAME) STATE PARENT ...": nine fields lie between the parent and the times.
  const std::size_t begin = line.find('('), end = line.rfind(')');
  if (begin == std::string::npos || end == std::string::npos) return {};
  ProcessStat stat{.name = line.substr(begin + 1, end - begin - 1)};
  std::from_chars(line.data(), line.data() + begin, stat.id);
  std::istringstream fields(line.substr(end + 1));
  fields >> stat.state >> stat.parent;
  std::string skipped;
  for (int i = 0; i < 9; ++i) fields >> skipped;
  std::uint64_t user = 0, system = 0;
  if (!(fields >> user >> system)) return {};
  stat.cpu = static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
  return stat;
}

}  // namespace lp::launch

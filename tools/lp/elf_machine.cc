#include "tools/lp/elf_machine.h"

#include <elf.h>

#include <cstring>
#include <fstream>

#include "tools/lp/command_error.h"

namespace lp::tool {

std::uint16_t machine_of(const std::filesystem::path& binary) {
  Elf64_Ehdr head{};
  std::ifstream file(binary, std::ios::binary);
  file.read(reinterpret_cast<char*>(&head), sizeof head);
  return file && std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 ? head.e_machine : EM_NONE;
}

void refuse_other_machine(const std::filesystem::path& binary) {
  const std::uint16_t machine = machine_of(binary);
  if (machine == EM_NONE || machine == machine_of("/proc/self/exe")) return;
  throw CommandError(Exit::failed, binary.string() + " was built for another kind of machine than this one");
}

}  // namespace lp::tool

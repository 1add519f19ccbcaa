#include "lp/base/secret.h"

#include <sys/random.h>

#include "lp/base/error.h"

namespace lp {

std::string secret_bytes(std::size_t size) {
  std::string bytes(size, '\0');
  if (getrandom(bytes.data(), size, 0) != static_cast<ssize_t>(size)) {
    throw Error(ErrorKind::failed, "the system gives no random bytes");
  }
  return bytes;
}

std::string secret_text(std::size_t size) {
  std::string text;
  for (const char byte : secret_bytes(size)) {
    const auto value = static_cast<unsigned char>(byte);
    text += "0123456789abcdef"[value >> 4];
    text += "0123456789abcdef"[value & 15];
  }
  return text;
}

}  // namespace lp

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

bool same_secret(std::string_view given, std::string_view secret) noexcept {
  if (given.size() != secret.size()) return false;
  unsigned char differs = 0;
  for (std::size_t i = 0; i < given.size(); ++i) {
    differs = static_cast<unsigned char>(differs | (given[i] ^ secret[i]));
  }
  return differs == 0;
}

}  // namespace lp

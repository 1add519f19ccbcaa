#pragma once
// Names and keys that nobody can guess. Functions; any thread.

#include <cstddef>
#include <string>

namespace lp {

// Returns `size` random bytes of the system. Throws Error(failed) when the system gives none.
std::string secret_bytes(std::size_t size);
// Returns such bytes as 2 * `size` hexadecimal digits.
std::string secret_text(std::size_t size);

}  // namespace lp

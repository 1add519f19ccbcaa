#pragma once
// Names and keys that nobody can guess. Functions; any thread.

#include <cstddef>
#include <string>

namespace lp {

// `size` random bytes of the system. Throws Error(failed) when it gives none.
std::string secret_bytes(std::size_t size);
// The same as 2 * `size` hexadecimal digits.
std::string secret_text(std::size_t size);

}  // namespace lp

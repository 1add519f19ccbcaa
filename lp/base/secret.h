#pragma once
// Names and keys that nobody can guess. Functions; any thread.

#include <cstddef>
#include <string>
#include <string_view>

namespace lp {

// Returns `size` random bytes of the system. Throws Error(failed) when the system gives none.
std::string secret_bytes(std::size_t size);
// Returns such bytes as 2 * `size` hexadecimal digits.
std::string secret_text(std::size_t size);

// Compares in a time that depends on the lengths alone, so that nobody can guess a secret piece by piece.
bool same_secret(std::string_view given, std::string_view secret) noexcept;

}  // namespace lp

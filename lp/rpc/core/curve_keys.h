#pragma once
// The keys by which the processes of a run identify one another over TCP (CurveZMQ, RFC 26): a pair for each process,
// made anew for each incarnation. Values and functions; any thread.

#include <string>

namespace lp {

// Two halves of 40 printable characters (Z85); both are empty where a run needs no keys.
struct CurveKeys {
  std::string public_key{};
  std::string secret_key{};
};

// Throws Error(failed) when ZeroMQ was built without CURVE.
CurveKeys make_curve_keys();

// Returns 32 bytes of a key as text.
std::string curve_text(const std::string& bytes);

// Returns whether only processes of this host reach a listener at `address`. Throws Error(failed) when it is no numeric
// address, or one that others cannot dial.
bool is_loopback(const std::string& address);

}  // namespace lp

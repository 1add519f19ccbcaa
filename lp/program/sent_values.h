#pragma once
// Names of values in a node's progress that count what the node has sent to a group: `lp graph` shows them at the arrow
// from its own group to that one. Pure functions.

#include <string>

namespace lp {

inline std::string records_to(const std::string& group) { return "records to " + group; }
inline std::string bytes_to(const std::string& group) { return "bytes to " + group; }

}  // namespace lp

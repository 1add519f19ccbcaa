#pragma once
// The number of nodes of a group: a fixed number, or the least and the most of an elastic group, whose members come and
// go. A value; it copies.
//
//   lp::GroupOptions fixed{.name = "worker", .replicas = 4}, elastic{.name = "worker", .replicas = {2, 8}};

#include <optional>
#include <string>
#include <string_view>

namespace lp {

struct Replicas {
  int least = 1;  // as many nodes must be there
  int most = 1;   // as many nodes the group has

  constexpr Replicas() = default;
  constexpr Replicas(int number) : least(number), most(number) {}
  constexpr Replicas(int the_least, int the_most) : least(the_least), most(the_most) {}

  constexpr bool elastic() const { return least != most; }
  bool operator==(const Replicas&) const = default;
};

// "4", "2..8".
std::string to_string(const Replicas& replicas);
// Reads the output of to_string for at least one replica. Returns nothing for another text, such as "8..2", "0..3" and
// "2..".
std::optional<Replicas> read_replicas(std::string_view text);

}  // namespace lp

#pragma once
// The configuration of a program is a plain aggregate: its fields are the flags, its initializers the defaults.
//
//   struct Model {
//     int hidden = 64;
//   };
//   struct Config {
//     int workers = 4;
//     double rate = 0.1;
//     std::vector<std::string> files{};
//     std::optional<int> steps{};
//     Model model{};                                          // --model.hidden=64
//
//     static constexpr auto fields = lp::fields(              // optional, and so is each of its lines
//         lp::field("workers", "number of workers", lp::range(1, 1024)),
//         lp::field("rate", "learning rate", lp::positive),
//         lp::field("steps", "stop after so many steps", lp::changeable));
//   };
//
// A field is a bool, an integer, a float or double, a std::string, an lp::Replicas (8, or 2..8: lp/base/replicas.h), or
// a std::vector or std::optional of one of these;
// an enum class whose values are 0, 1, 2, ..., by their names; or again such an aggregate, with a table of its own.
// Durations are numbers; their help text says the unit. A table that names a field which the aggregate does not have
// does not compile. A default outside its range means that the user must give the value.
//
// A configuration may say in which sections --help shows its flags, and which of them, by what was given beside it:
//
//   std::vector<lp::HelpSection> help_sections(std::span<const std::string> given) const;   // paths of fields
//
// Values only, no state: any thread may use what is here.

#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace lp {

// The numbers that a field may take. A field that is a list or optional: each element, or the value if there is one.
struct Range {
  long double low = -std::numeric_limits<long double>::infinity();
  long double high = std::numeric_limits<long double>::infinity();
  bool above_low = false;  // low itself is outside

  constexpr bool bounded() const {
    return low != -std::numeric_limits<long double>::infinity() || high != std::numeric_limits<long double>::infinity();
  }
  // NaN is in no bounded range.
  constexpr bool contains(long double value) const {
    return !bounded() || (value <= high && (above_low ? value > low : value >= low));
  }
};

constexpr Range range(long double low, long double high) { return {low, high, false}; }  // both inclusive
constexpr Range at_least(long double low) { return {low, Range{}.high, false}; }
constexpr Range at_most(long double high) { return {Range{}.low, high, false}; }
inline constexpr Range positive{0, Range{}.high, true};
inline constexpr Range non_negative{0, Range{}.high, false};

// Marks a field that may be another one in a run that goes on from an earlier one: how long it goes on, for instance.
// Fields without it are then those of the earlier run.
struct Changeable {};
inline constexpr Changeable changeable{};

// What the table of a configuration says of one field.
struct FieldInfo {
  std::string_view name;
  std::string_view help;
  Range range;
  bool may_change = false;  // lp::changeable
};

constexpr FieldInfo field(std::string_view name, std::string_view help, Range range = {}) {
  return {name, help, range, false};
}
constexpr FieldInfo field(std::string_view name, std::string_view help, Range range, Changeable) {
  return {name, help, range, true};
}
constexpr FieldInfo field(std::string_view name, std::string_view help, Changeable) { return {name, help, {}, true}; }

// Fields that --help shows together, under a title.
struct HelpSection {
  std::string title{};
  std::vector<std::string> fields{};
};

template <class... Infos>
constexpr auto fields(Infos... infos) {
  return std::array<FieldInfo, sizeof...(Infos)>{infos...};
}

}  // namespace lp

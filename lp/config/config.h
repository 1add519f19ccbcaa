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
// a std::vector or std::optional of one of these; an enum class whose values are 0, 1, 2, ..., by their names; or again
// such an aggregate, with a table of its own. Durations are numbers; their help text names the unit. A table that names
// a field which the aggregate does not have does not compile. A default outside its range means that the user must give
// the value.
//
// A configuration may choose the sections in which --help shows its flags, and which flags it shows, depending on the
// other flags of the command line:
//
//   std::vector<lp::HelpSection> help_sections(std::span<const std::string> given) const;   // paths of fields
//
// It may also refuse flags that say nothing to the others, even if they are given with their defaults. It throws Error:
//
//   void check_given(std::span<const std::string> given) const;   // paths of the fields that the command line names
//
// Values only, no state: any thread may use them.

#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace lp {

// The numbers that a field may take. In a list or an optional, this applies to each value.
struct Range {
  long double low = -std::numeric_limits<long double>::infinity();
  long double high = std::numeric_limits<long double>::infinity();
  bool above_low = false;  // low itself is outside the range
  bool endless = false;    // infinity is inside

  constexpr bool bounded() const {
    return low != -std::numeric_limits<long double>::infinity() || high != std::numeric_limits<long double>::infinity();
  }
  // NaN is in no bounded range, and infinity only in an endless one.
  constexpr bool contains(long double value) const {
    constexpr long double kInfinity = std::numeric_limits<long double>::infinity();
    if (!bounded()) return true;
    if (value == kInfinity || value == -kInfinity) return endless && value == kInfinity;
    return value <= high && (above_low ? value > low : value >= low);
  }
};

constexpr Range range(long double low, long double high) { return {low, high, false, false}; }  // both inclusive
constexpr Range at_least(long double low) { return {low, Range{}.high, false, false}; }
constexpr Range at_most(long double high) { return {Range{}.low, high, false, false}; }
inline constexpr Range positive{0, Range{}.high, true, false};
inline constexpr Range non_negative{0, Range{}.high, false, false};
// The same range with infinity, for a time that may never end.
constexpr Range endless(Range range) { return {range.low, range.high, range.above_low, true}; }

// Marks a field that may change in a run that goes on from an earlier one: how long it goes on, for instance. Fields
// without the mark keep the values of the earlier run.
struct Changeable {};
inline constexpr Changeable changeable{};

// Marks a field that may change in a run that takes over the state of another one (Program::take_over): the number of
// nodes, for instance. With --resume it may not.
struct Adaptable {};
inline constexpr Adaptable adaptable{};

// The line for one field in the table of a configuration.
struct FieldInfo {
  std::string_view name;
  std::string_view help;
  Range range;
  bool may_change = false;  // lp::changeable
  bool may_adapt = false;   // lp::adaptable, or lp::changeable
};

constexpr FieldInfo field(std::string_view name, std::string_view help, Range range = {}) {
  return {name, help, range, false, false};
}
constexpr FieldInfo field(std::string_view name, std::string_view help, Range range, Changeable) {
  return {name, help, range, true, true};
}
constexpr FieldInfo field(std::string_view name, std::string_view help, Changeable) {
  return {name, help, {}, true, true};
}
constexpr FieldInfo field(std::string_view name, std::string_view help, Range range, Adaptable) {
  return {name, help, range, false, true};
}
constexpr FieldInfo field(std::string_view name, std::string_view help, Adaptable) {
  return {name, help, {}, false, true};
}

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

#pragma once
// A length of time with its unit, as a template argument: lp::deadline<&Server::step, 60_s>. std::chrono's durations
// cannot be template arguments. A value, which converts to a Duration.

#include <chrono>
#include <cstdint>

namespace lp {

struct Interval {
  std::int64_t nanoseconds = 0;

  // NOLINTNEXTLINE(google-explicit-constructor): it is one
  constexpr operator std::chrono::nanoseconds() const { return std::chrono::nanoseconds(nanoseconds); }
  friend constexpr bool operator==(Interval, Interval) = default;
};

// In a program: using namespace lp::literals;
inline namespace literals {

consteval Interval operator""_us(unsigned long long count) { return {static_cast<std::int64_t>(count) * 1'000}; }
consteval Interval operator""_ms(unsigned long long count) { return {static_cast<std::int64_t>(count) * 1'000'000}; }
consteval Interval operator""_s(unsigned long long count) { return {static_cast<std::int64_t>(count) * 1'000'000'000}; }
consteval Interval operator""_min(unsigned long long count) {
  return {static_cast<std::int64_t>(count) * 60'000'000'000};
}

}  // namespace literals
}  // namespace lp

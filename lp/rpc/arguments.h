#pragma once
// The arguments of a method, as a value: a std::tuple that compiles in a fraction of the time, for lp's own code. Owned
// by the call that carries it; one thread at a time.

#include <cstddef>
#include <type_traits>
#include <utility>

namespace lp::internal {

template <std::size_t I, class T>
struct Argument {
  T value;
};

template <class Positions, class... P>
struct ArgumentList;
template <std::size_t... I, class... P>
struct ArgumentList<std::index_sequence<I...>, P...> : Argument<I, P>... {};

template <class... P>
struct Arguments : ArgumentList<std::index_sequence_for<P...>, P...> {
  static constexpr std::size_t size = sizeof...(P);
};

// A number with a fraction is no integer, though C++ converts it.
template <class Given, class T>
inline constexpr bool kLosesFraction = std::is_floating_point_v<std::remove_cvref_t<Given>>&& std::is_integral_v<T>;

// Whether values of these types convert to the arguments, without a cast.
template <class Params, class... Given>
inline constexpr bool kArgumentsFit = false;
template <class... P, class... Given>
  requires(sizeof...(P) == sizeof...(Given))
inline constexpr bool kArgumentsFit<Arguments<P...>, Given...> =
    ((std::is_convertible_v<Given, P> && !kLosesFraction<Given, P>)&&...);

// Converted as kArgumentsFit allows.
template <class Params>
struct MakeArguments;
template <class... P>
struct MakeArguments<Arguments<P...>> {
  template <class... Given>
  static Arguments<P...> from(Given&&... given) {
    return {{{static_cast<P>(std::forward<Given>(given))}...}};
  }
};

}  // namespace lp::internal

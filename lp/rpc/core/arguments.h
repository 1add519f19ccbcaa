#pragma once
// The arguments of a method, as a value: a std::tuple for lp's own code that compiles in a fraction of the time. Also
// the operations on them once their types are erased, so that the code of calls exists once and not for every
// signature. Owned by the call that carries it; one thread at a time.

#include <array>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace lp {
class Reader;
class Writer;
}  // namespace lp

namespace lp::rpc {

template <std::size_t I, class T>
struct Argument {
  T value;
};

template <class Positions, class... P>
struct ArgumentList;
template <std::size_t... I, class... P>
struct ArgumentList<std::index_sequence<I...>, P...> : Argument<I, P>... {
  static constexpr std::size_t size = sizeof...(P);
};

template <class... P>
using Arguments = ArgumentList<std::index_sequence_for<P...>, P...>;

// A number with a fraction is no integer, though C++ converts it.
template <class Given, class T>
inline constexpr bool kLosesFraction = std::is_floating_point_v<std::remove_cvref_t<Given>>&& std::is_integral_v<T>;

// Whether a value of this type converts to the parameter, without a cast.
template <class Given, class P>
inline constexpr bool kArgumentFits = std::is_convertible_v<Given, P> && !kLosesFraction<Given, P>;

template <class Params, class... Given>
inline constexpr bool kArgumentsFit = false;
template <std::size_t... I, class... P, class... Given>
  requires(sizeof...(P) == sizeof...(Given))
inline constexpr bool kArgumentsFit<ArgumentList<std::index_sequence<I...>, P...>, Given...> =
    (kArgumentFits<Given, P> && ...);

// Makes Arguments from values that are converted as kArgumentFits allows.
template <class Params>
struct MakeArguments;
template <std::size_t... I, class... P>
struct MakeArguments<ArgumentList<std::index_sequence<I...>, P...>> {
  template <class... Given>
  static Arguments<P...> from(Given&&... given) {
    return {{static_cast<P>(std::forward<Given>(given))}...};
  }
};

// The operations on the Arguments of one method. `room` is raw memory of that size and alignment.
struct ArgumentsOps {
  std::size_t size;
  std::size_t alignment;
  void (*encode)(const void* arguments, Writer& out);
  void (*decode)(void* room, Reader& in);  // throws Error
  void (*move)(void* room, void* arguments);
  void (*copy)(void* room, const void* arguments);  // null: they cannot be copied
  void (*destroy)(void* arguments);
  std::size_t (*bytes)(const void* arguments);  // a rough estimate
};

// Holds a copy of the arguments as long as a handler runs.
class CopiedArguments {
 public:
  CopiedArguments(const ArgumentsOps& ops, const void* arguments);
  ~CopiedArguments() { ops_.destroy(place_); }
  CopiedArguments(const CopiedArguments&) = delete;
  CopiedArguments& operator=(const CopiedArguments&) = delete;
  void* get() { return place_; }

 private:
  const ArgumentsOps& ops_;
  alignas(std::max_align_t) std::array<std::byte, 64> near_;  // used if the arguments fit, which saves an allocation
  std::unique_ptr<std::byte[]> far_;
  void* place_;
};

// Returns the first place in `room` with this alignment.
void* aligned(void* room, std::size_t alignment);

}  // namespace lp::rpc

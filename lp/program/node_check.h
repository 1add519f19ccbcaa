#pragma once
// The requirements on a class or a function that becomes a node, checked when it is added. Each mistake produces one
// sentence, and only that. Pure compile time.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "lp/program/context.h"
#include "lp/program/deferred.h"
#include "lp/rpc/core/method.h"

namespace lp {

class Checkpoint;

namespace internal {

template <class S>
concept RunsWithContext = requires(S& service, Context& context) {
  service.run(context);
};
template <class S>
concept RunsAlone = requires(S& service) {
  service.run();
};
template <class S>
concept Saves = requires(S& service, Checkpoint& out) {
  service.save(out);
};
template <class S>
concept Loads = requires(S& service, const Checkpoint& in) {
  service.load(in);
};

// Detects a member named `run`, private or not: together with the member of HasRun, the name is ambiguous.
struct HasRun {
  void run();
};
template <class S>
struct WithRun : S, HasRun {};
template <class S>
concept NamesRun = std::is_class_v<S> && !std::is_final_v<S> && !requires {
  &WithRun<S>::run;
};
template <class S>
concept ShowsRun = RunsWithContext<S> || RunsAlone<S> || requires {
  &S::run;
};

// Converts to any parameter type except S, so that it does not fit S's copy constructor.
template <class S>
struct Anything {
  template <class T>
    requires(!std::same_as<std::remove_cv_t<T>, S>)
  operator T&() const;
};

template <class S, std::size_t>
using AnythingAt = Anything<S>;

// Whether F can be a function node with these arguments.
template <class F, class... Args>
struct FunctionTakes : std::disjunction<std::is_invocable<F&, Context&, Args&...>, std::is_invocable<F&, Args&...>> {};

// Returns the number, counted from 1, of the only argument that is wrong: everything fits when that argument may be
// anything. Returns 0 if there is no such argument.
template <template <class...> class Takes, class S, class... Args, std::size_t... I>
consteval std::size_t wrong_argument(std::index_sequence<I...> all) {
  const auto fits_without = []<std::size_t kWrong, std::size_t... J>(std::index_sequence<J...>) {
    return Takes<S, std::conditional_t<J == kWrong, Anything<S>, Args>...>::value;
  };
  const std::array<bool, sizeof...(I)> found{fits_without.template operator()<I>(all)...};
  const auto at = std::ranges::find(found, true);
  return at == found.end() ? 0 : static_cast<std::size_t>(at - found.begin()) + 1;
}

// Returns how many arguments, of any type, a constructor of S takes: the smallest number from 1 to 8, or 0 if there is
// none.
template <class S, std::size_t kNumber = 1>
consteval std::size_t constructor_takes() {
  if constexpr (kNumber > 8) {
    return 0;
  } else {
    constexpr bool takes = []<std::size_t... I>(std::index_sequence<I...>) {
      return std::is_constructible_v<S, AnythingAt<S, I>...>;
    }
    (std::make_index_sequence<kNumber>{});
    if constexpr (takes) {
      return kNumber;
    } else {
      return constructor_takes<S, kNumber + 1>();
    }
  }
}

// The compiler shows the template arguments of the function whose assertion fails.
template <std::size_t kNumber, class Argument, bool kFits = false>
consteval void check_argument() {
  static_assert(kFits,
                "lp: one argument does not fit this node; this message shows its number, counted from 1 after the "
                "options, as kNumber, and the type that arrives as Argument");
}
template <std::size_t kGiven, std::size_t kTaken, bool kFits = false>
consteval void check_number_of_arguments() {
  static_assert(kFits,
                "lp: no constructor of this node takes this number of arguments; this message shows the number given "
                "after the options as kGiven, and the number that a constructor takes as kTaken");
}
template <std::size_t kNumber, class Argument>
consteval bool argument_is_copyable() {
  static_assert(std::is_copy_constructible_v<Argument>,
                "lp: every incarnation of a node gets a copy of its arguments, but one argument cannot be copied; this "
                "message shows its number, counted from 1 after the options, as kNumber, and its type as Argument");
  return std::is_copy_constructible_v<Argument>;
}
template <class... Args>
consteval bool arguments_are_copyable() {
  return []<std::size_t... I>(std::index_sequence<I...>) { return (argument_is_copyable<I + 1, Args>() && ...); }
  (std::index_sequence_for<Args...>{});
}

template <template <class...> class Takes, class S, class... Args>
consteval bool arguments_fit() {
  constexpr std::size_t wrong = wrong_argument<Takes, S, Args...>(std::index_sequence_for<Args...>{});
  if constexpr (wrong > 0) {
    check_argument<wrong, std::tuple_element_t<wrong - 1, std::tuple<Args...>>>();
  }
  return wrong == 0;
}

// Explains in one sentence why a node cannot be added, and only that.
template <class S, class... Args>
consteval bool node_is_fine() {
  if constexpr (!arguments_are_copyable<Args...>()) {
    return false;
  } else if constexpr (!std::is_constructible_v<S, Dereferenced<Args>...>) {
    if constexpr (arguments_fit<std::is_constructible, S, Dereferenced<Args>...>()) {
      constexpr std::size_t taken = constructor_takes<S>();
      if constexpr (taken != 0 && taken != sizeof...(Args)) {
        check_number_of_arguments<sizeof...(Args), taken>();
      } else {
        static_assert(
            std::is_constructible_v<S, Dereferenced<Args>...>,
            "lp: no public constructor of this node takes these arguments; an lp::Handle<S> arrives as lp::Client<S>, "
            "an lp::GroupHandle<S> as lp::Clients<S>, lp::index as int, lp::seed as std::uint64_t");
      }
    }
    return false;
  } else if constexpr (NamesRun<S> && !ShowsRun<S>) {
    static_assert(ShowsRun<S>,
                  "lp: this class has a `run` that is not public, so lp would never call it: make it public, or rename "
                  "it if lp should not call it");
    return false;
  } else if constexpr (Saves<S> != Loads<S>) {
    static_assert(Saves<S> == Loads<S>,
                  "lp: a node needs both save(lp::Checkpoint&) and load(const lp::Checkpoint&), or neither");
    return false;
  } else if constexpr (Service<S>) {
    return RemoteOf<S>::type::check();
  } else {
    return true;
  }
}

template <class F, class... Args>
consteval bool function_is_fine() {
  if constexpr (!std::is_copy_constructible_v<F>) {
    static_assert(std::is_copy_constructible_v<F>,
                  "lp: every incarnation of a node gets a copy of its function, but this one captures a value that "
                  "cannot be copied: capture only configuration, and make other values inside the function");
    return false;
  } else if constexpr (!arguments_are_copyable<Args...>()) {
    return false;
  } else if constexpr (!FunctionTakes<F, Dereferenced<Args>...>::value) {
    if constexpr (arguments_fit<FunctionTakes, F, Dereferenced<Args>...>()) {
      static_assert(
          FunctionTakes<F, Dereferenced<Args>...>::value,
          "lp: this function does not take these arguments; it is called with (lp::Context&, arguments...) or with "
          "(arguments...), where an lp::Handle<S> arrives as lp::Client<S>");
    }
    return false;
  } else {
    return true;
  }
}

}  // namespace internal
}  // namespace lp

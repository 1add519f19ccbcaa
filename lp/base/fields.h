#pragma once
// The fields of a plain aggregate, without macros in the user's code: their number, references to them, and their
// names.
//
// An aggregate can be taken apart if its fields are values (no references, no bit-fields), at most kMaxFields of them,
// and if it has no C arrays (use std::array) and no base classes. Any other type is refused with a sentence. All of
// this happens at compile time.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "lp/base/fields_apply.h"
#include "lp/base/names.h"

namespace lp {

inline constexpr std::size_t kMaxFields = 64;

// A plain struct, which can be written as T{a, b, c}. std::array is not one.
template <class T>
concept Aggregate = std::is_aggregate_v<T> && std::is_class_v<T> && !requires {
  std::tuple_size<T>::value;
};

template <class... T>
struct TypeList {};

namespace internal {

// Stand for a value of any type, and of any base of T, in expressions that only the compiler evaluates.
template <std::size_t = 0>
struct AnyField {
  template <class F>
  operator F() const noexcept {
    __builtin_unreachable();
  }
};
template <class T>
struct AnyBaseOf {
  template <class B>
    requires(std::is_base_of_v<B, T> && !std::is_same_v<B, T>)
  operator B() const noexcept;
};

template <class T, std::size_t... I>
constexpr bool takes_values(std::index_sequence<I...>) {
  return requires { T{AnyField<I>{}...}; };
}
template <class T, std::size_t N>
inline constexpr bool kTakes = takes_values<T>(std::make_index_sequence<N>{});

// Returns the largest number of values in [low, high) that T takes, given that it takes `low`. This is a binary search.
template <class T, std::size_t Low, std::size_t High>
constexpr std::size_t most_values() {
  constexpr std::size_t kMiddle = Low + (High - Low) / 2;
  if constexpr (High - Low == 1) {
    return Low;
  } else if constexpr (kTakes<T, kMiddle>) {
    return most_values<T, kMiddle, High>();
  } else {
    return most_values<T, Low, kMiddle>();
  }
}

// Returns the same for a T that does not take fewer values, because its last fields have no default. It searches from
// the top.
template <class T, std::size_t N>
constexpr std::size_t most_values_from() {
  if constexpr (N == 0 || kTakes<T, N>) {
    return N;
  } else {
    return most_values_from<T, N - 1>();
  }
}

// Returns whether the first value is a base class. The second question excludes a first field that is made from
// anything at all.
struct NoField {};
template <class T, std::size_t... I>
constexpr bool first_is_base(std::index_sequence<I...>) {
  if constexpr (requires { T{AnyBaseOf<T>{}, AnyField<I>{}...}; }) {
    return !requires { T{NoField{}, AnyField<I>{}...}; };
  } else {
    return false;
  }
}

// Returns whether value number `sizeof...(Before)` fills a whole field. A C array swallows one value for each of its
// elements, but only one pair of braces. So with an array there, the values behind it are too many.
template <class T, std::size_t... Before, std::size_t... After>
constexpr bool fills_field(std::index_sequence<Before...>, std::index_sequence<After...>) {
  using Any = AnyField<>;
  if constexpr (requires { T{AnyField<Before>{}..., {}, AnyField<After>{}...}; }) {
    return true;
  } else if constexpr (requires { T{AnyField<Before>{}..., {Any{}}, AnyField<After>{}...}; }) {
    return true;
  } else {
    return requires { T{AnyField<Before>{}..., {Any{}, Any{}}, AnyField<After>{}...}; };
  }
}
template <class T, std::size_t... I>
constexpr bool each_fills_field(std::index_sequence<I...>) {
  return (fills_field<T>(std::make_index_sequence<I>{}, std::make_index_sequence<sizeof...(I) - 1 - I>{}) && ...);
}

struct HasArray {
  template <class... F>
  std::bool_constant<(std::is_array_v<F> || ...)> operator()(F&...) const {
    return {};
  }
};
struct ListTypes {
  template <class... F>
  TypeList<std::remove_cvref_t<F>...> operator()(F&...) const {
    return {};
  }
};

enum class FieldVerdict { countable, too_many, base_class, array };

template <class T>
struct Fields {
  static constexpr std::size_t measure() {
    if constexpr (kTakes<T, 0>) {
      return most_values<T, 0, kMaxFields + 2>();
    } else {
      return most_values_from<T, kMaxFields + 1>();
    }
  }
  static constexpr std::size_t kCount = measure();

  static constexpr FieldVerdict judge() {
    if constexpr (kCount == 0) {
      return kTakes<T, 0> ? FieldVerdict::countable : FieldVerdict::array;
    } else if constexpr (kCount > kMaxFields) {
      return FieldVerdict::too_many;
    } else if constexpr (first_is_base<T>(std::make_index_sequence<kCount - 1>{})) {
      return FieldVerdict::base_class;
    } else if constexpr (!each_fills_field<T>(std::make_index_sequence<kCount>{})) {
      return FieldVerdict::array;
    } else {  // until here, a C array of one element looks like its element
      using Array = decltype(apply_counted<kCount>(std::declval<T&>(), HasArray{}));
      return Array::value ? FieldVerdict::array : FieldVerdict::countable;
    }
  }
  static constexpr FieldVerdict kVerdict = judge();
};

template <class T>
constexpr std::size_t checked_field_count() {
  constexpr FieldVerdict kVerdict = Fields<T>::kVerdict;
  static_assert(kVerdict != FieldVerdict::too_many,
                "lp: this aggregate has more fields than lp can count; put some of them into a struct of their own");
  static_assert(kVerdict != FieldVerdict::base_class,
                "lp: this aggregate has a base class, so its fields cannot be told apart; make the base a field");
  static_assert(
      kVerdict != FieldVerdict::array,
      "lp: the fields of this aggregate cannot be told apart: it has a C array (use std::array), a reference, "
      "or a field that cannot be made from {}");
  return Fields<T>::kCount;
}

}  // namespace internal

// Whether T's fields can be distinguished. If this is false, everything below prints the reason.
template <class T>
concept Reflectable = Aggregate<T> && internal::Fields<T>::kVerdict == internal::FieldVerdict::countable;

template <Aggregate T>
inline constexpr std::size_t field_count = internal::checked_field_count<T>();

// Calls visit(field, field, ...) and returns its result.
template <class T, class Visit>
constexpr decltype(auto) apply_fields(T& value, Visit&& visit) {
  return internal::apply_counted<field_count<std::remove_const_t<T>>>(value, std::forward<Visit>(visit));
}

// The types of the fields, as a TypeList.
template <Aggregate T>
using FieldTypes = decltype(apply_fields(std::declval<T&>(), internal::ListTypes{}));

// A tuple of references to the fields of `value`.
template <class T>
constexpr auto tie_fields(T& value) {
  return apply_fields(value, [](auto&... field) { return std::tie(field...); });
}

namespace internal {

template <class T>
struct Holder {
  T value;
};

#pragma GCC diagnostic push
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wundefined-var-template"
#pragma GCC diagnostic ignored "-Wundefined-internal"
#endif

template <class T>
extern const Holder<T> held;  // never defined: the compiler only spells the addresses of its fields

template <std::size_t N>
struct Addresses {
  const void* of[N];
};

// Returns the addresses of at most 8 fields from field `First` on, because clang spells no more than ten elements of an
// array.
template <class T, std::size_t First>
constexpr auto addresses() {
  return apply_fields(held<T>.value, [](auto&... field) {
    constexpr std::size_t kCount = sizeof...(field) - First;
    const void* const all[] = {&field...};
    Addresses<(kCount < 8 ? kCount : 8)> some{};
    for (std::size_t i = 0; const void*& address : some.of) address = all[First + i++];
    return some;
  });
}

// A field's name is the last word of its address as the compiler spells it.
template <class T, std::size_t First = 0>
constexpr void find_names(std::string_view* names) {
  if constexpr (First < field_count<T>) {
#ifdef __clang__
    constexpr std::string_view kAddress = "&held";
#else
    constexpr std::string_view kAddress = "((const void*)(& ";
#endif
    const auto word = [](char c) {
      return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c < 0;
    };
    std::string_view text = pretty_argument(pretty_value<addresses<T, First>()>());
    for (std::size_t i = std::min<std::size_t>(field_count<T> - First, 8); i-- > 0;) {
      std::size_t end = text.size();
      while (!word(text[end - 1])) --end;
      std::size_t begin = end;
      while (word(text[begin - 1])) --begin;
      names[First + i] = text.substr(begin, end - begin);
      text = text.substr(0, text.rfind(kAddress));
    }
    find_names<T, First + 8>(names);
  }
}

template <class T>
constexpr auto names_of_fields() {
  std::array<std::string_view, field_count<T>> names{};
  find_names<T>(names.data());
  return names;
}

#pragma GCC diagnostic pop

}  // namespace internal

// The names of the fields, in order.
template <Aggregate T>
inline constexpr std::array<std::string_view, field_count<T>> field_names = internal::names_of_fields<T>();

// Calls visit(name, field) for each field, in order.
template <class T, class Visit>
constexpr void for_each_field(T& value, Visit&& visit) {
  constexpr auto& kNames = field_names<std::remove_const_t<T>>;
  apply_fields(value, [&visit](auto&... field) {
    std::size_t i = 0;
    (visit(kNames[i++], field), ...);
  });
}

}  // namespace lp

#pragma once
// Describes how a type looks on the wire, so that two programs can find out before a call whether they mean the same:
// kinds, names and types of fields, all the way down. Do not store descriptions: names are spelled as the compiler
// spells them.
//
// Called when a program starts, from any thread.

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "lp/base/fields.h"
#include "lp/base/hash.h"
#include "lp/wire/codec.h"

namespace lp {
namespace wire {

template <class T>
inline constexpr char kTypeId = 0;  // its address identifies the type

// Writes the description of a type.
class Describer {
 public:
  template <class T>
  void type() {
    if constexpr (Number<T>) {
      number(std::is_same_v<T, bool>, std::is_floating_point_v<T>, std::is_signed_v<T>, sizeof(T));
    } else if constexpr (HasCodec<T>) {
      coded<T>();
    } else if constexpr (std::is_enum_v<T>) {
      name("enum ", internal::pretty_type<T>());
      text_ += ':';
      type<std::underlying_type_t<T>>();
    } else {
      aggregate<T>();
    }
  }
  std::string take() { return std::move(text_); }

 private:
  template <class T>
  void coded() {
    if constexpr (requires { Codec<T>::shape(); }) {
      text_ += Codec<T>::shape();
    } else {
      name("", internal::pretty_type<T>());
    }
    if constexpr (requires { typename Codec<T>::Parts; }) {
      if (!open(&kTypeId<T>)) return;
      text_ += '<';
      parts(typename Codec<T>::Parts{});
      text_ += '>';
      close(&kTypeId<T>);
    }
  }
  template <class... Part>
  void parts(TypeList<Part...>) {
    [[maybe_unused]] bool first = true;
    ((first ? void(first = false) : void(text_ += ','), type<Part>()), ...);
  }
  // Describes an aggregate with its fields the first time, and by its name from then on. So the description of a type
  // that contains itself ends.
  template <class T>
  void aggregate() {
    name("", internal::pretty_type<T>());
    if (!open(&kTypeId<T>)) return;
    text_ += '{';
    fields(internal::names_of_fields<T>().data(), FieldTypes<T>{});
    text_ += '}';
  }
  template <class... F>
  void fields([[maybe_unused]] const std::string_view* names, TypeList<F...>) {
    (field<F>(*names++), ...);
  }
  template <class F>
  void field(std::string_view name) {
    if (text_.back() != '{') text_ += ',';
    (text_ += name) += ':';
    type<F>();
  }

  void number(bool boolean, bool floating, bool is_signed, std::size_t size);
  void name(std::string_view kind, std::string_view pretty);
  bool open(const void* type);  // returns false if the type is known already
  void close(const void* type);

  std::string text_;
  std::vector<const void*> known_;
};

}  // namespace wire

// Returns "app::Step{seed:u64,values:array<f32>}".
template <Sendable T>
std::string describe() {
  wire::Describer describer;
  describer.type<T>();
  return describer.take();
}

// Returns a number that differs for two types (or two builds of one) whose bytes or whose fields' names differ.
template <Sendable T>
std::uint64_t shape_of() {
  return fnv1a(describe<T>());
}

}  // namespace lp

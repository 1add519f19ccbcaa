#pragma once
// An aggregate as a list of fields that can be read and printed. parse, help and to_yaml work on this list.
//
// A Binding points into the aggregate that it was made from, which must outlive it. It belongs to one thread.

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lp/base/fields.h"
#include "lp/config/config.h"
#include "lp/config/field_type.h"

namespace lp {
namespace internal {

// Checks one line of a configuration's table. The field's name shows in the compiler's message.
template <std::size_t N>
struct Name {
  char text[N + 1] = {};
  constexpr explicit Name(std::string_view name) {
    for (std::size_t i = 0; i < N; ++i) text[i] = name[i];
  }
};

enum class LineVerdict { right, no_such_field, no_number, nested };

template <class... Field>
constexpr LineVerdict judge_line(TypeList<Field...>, std::span<const std::string_view> names, std::string_view name,
                                 bool has_range) {
  const bool nested[] = {Aggregate<Field>...};
  const bool numbers[] = {takes_range<typename ValueOf<Field>::type>...};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] != name) continue;
    if (nested[i]) return LineVerdict::nested;
    return has_range && !numbers[i] ? LineVerdict::no_number : LineVerdict::right;
  }
  return LineVerdict::no_such_field;
}

template <class Config, auto name, bool has_range>
struct TableLine {
  static constexpr LineVerdict verdict = judge_line(FieldTypes<Config>{}, field_names<Config>, name.text, has_range);
  static_assert(verdict != LineVerdict::no_such_field,
                "lp: the table `fields` names a field that this configuration does not have; see the name above");
  static_assert(verdict != LineVerdict::no_number,
                "lp: the table `fields` gives a range to a field that holds no numbers; see the name above");
  static_assert(verdict != LineVerdict::nested,
                "lp: a nested aggregate has a table `fields` of its own: put help texts and ranges there");
};

template <Aggregate T>
constexpr std::span<const FieldInfo> table_of() {
  if constexpr (requires { T::fields.size(); }) {
    constexpr auto& table = T::fields;
    []<std::size_t... I>(std::index_sequence<I...>) {
      (void(TableLine<T, Name<table[I].name.size()>(table[I].name), table[I].range.bounded()>::verdict), ...);
    }
    (std::make_index_sequence<table.size()>{});
    return table;
  } else {
    return {};
  }
}

}  // namespace internal

struct BoundField {
  std::string path;  // "model.hidden_size"
  void* value;
  const internal::FieldType* type;
  FieldInfo info;  // the field's line of the table, empty if there is none

  std::string flag() const;      // "--model.hidden-size"
  Range range() const;           // the range that both the type and the table allow
  std::string expected() const;  // "an integer from 1 to 1024"
  // The same for a text that does not fit: "a number above 0 that is a finite float (...)".
  std::string expected_instead_of(std::string_view text) const;
  bool in_range() const;

  // Replaces the value by the one that the texts stand for: one text, or one for each element of a list, or none for an
  // optional or a list that is to be empty. Returns the index of the first text that does not fit, or the number of
  // texts if all fit. The value is unspecified if a text does not fit.
  std::size_t assign(std::span<const std::string> texts) const;
};

// "from 1 to 1024", "above 0"; empty for a range without limits.
std::string to_string(const Range& range);

class Binding {
 public:
  const std::vector<BoundField>& fields() const { return fields_; }

  // Returns the field of this path, where dashes count as underscores; null if there is none.
  const BoundField* find(std::string_view path) const;

  // Returns the paths one level below `section` ("" is the whole), for fields and for nested aggregates.
  std::vector<std::string> children(std::string_view section) const;

  // Reads and prints the field of this path by another type, which must outlive the binding: for a string that has one
  // of several names, which are known when the program runs.
  void replace_type(std::string_view path, const internal::FieldType& type);

  template <Aggregate T>
  void add_fields(T& value, const std::string& prefix) {
    const std::span<const FieldInfo> table = internal::table_of<T>();
    for_each_field(value, [&](std::string_view name, auto& field) {
      using Field = std::remove_reference_t<decltype(field)>;
      std::string path = prefix + std::string(name);
      if constexpr (Aggregate<Field>) {
        add_fields(field, path + ".");
      } else {
        add_field(std::move(path), name, &field, internal::field_type<Field>(), table);
      }
    });
  }

 private:
  void add_field(std::string path, std::string_view name, void* value, const internal::FieldType& type,
                 std::span<const FieldInfo> table);

  std::vector<BoundField> fields_;
};

template <Aggregate T>
Binding bind(T& value) {
  Binding binding;
  binding.add_fields(value, "");
  return binding;
}

}  // namespace lp

#pragma once
// The bytes of memory that a record takes, with what it owns: for budgets. Pure functions.

#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>

#include "lp/base/fields.h"
#include "lp/wire/sendable.h"
#include "nodes/dataflow/record_codec.h"

namespace lp::dataflow {

template <class T>
std::size_t record_size(const T& record);

// Without the record itself. Of a type that cannot be sent, what it owns is not known.
template <class T>
std::size_t owned_size(const T& record) {
  if constexpr (std::is_trivially_copyable_v<T>) {
    return 0;
  } else if constexpr (std::is_same_v<T, std::string>) {
    return record.size();
  } else if constexpr (internal::kIsTuple<T>) {
    return std::apply([](const auto&... part) { return (std::size_t{0} + ... + owned_size(part)); }, record);
  } else if constexpr (internal::kIsVector<T>) {
    std::size_t bytes = 0;
    for (const auto& one : record) bytes += record_size(one);
    return bytes;
  } else if constexpr (internal::kIsOptional<T>) {
    return record ? owned_size(*record) : 0;
  } else if constexpr (Reflectable<T> && !wire::HasCodec<T>) {
    return apply_fields(record, [](const auto&... field) { return (std::size_t{0} + ... + owned_size(field)); });
  } else if constexpr (Sendable<T>) {
    RecordWriter bytes;
    write_record(bytes, record);
    return bytes.size();
  } else {
    return 0;
  }
}

template <class T>
std::size_t record_size(const T& record) {
  return sizeof(T) + owned_size(record);
}

}  // namespace lp::dataflow

#pragma once
// Records of one type that are kept as bytes, so that they own what they refer to. A value.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "nodes/dataflow/record_codec.h"

namespace lp::dataflow {

struct RecordBag {
  std::string bytes{};
  std::uint64_t count = 0;

  template <class T>
  void add(const T& record) {
    RecordWriter& writer = empty_writer();
    write_record(writer, record);
    add_bytes(writer.view(), 1);
  }
  void add_bytes(std::string_view more, std::uint64_t records) {
    bytes.append(more);
    count += records;
  }
  // The bytes of memory that the bag and records<T>() need together, at most about.
  template <class T>
  std::size_t bytes_with_records() const {
    const std::size_t copies = std::is_trivially_copyable_v<T> ? 1 : 2;  // others own what they have
    return copies * bytes.size() + count * sizeof(T);
  }
  // They refer to the bag.
  template <class T>
  std::vector<T> records() const {
    std::vector<T> out;
    out.reserve(count);
    for (RecordBytes in(bytes); !in.empty();) out.push_back(read_record<T>(in));
    return out;
  }

  static RecordWriter& empty_writer() {
    thread_local RecordWriter writer;
    writer.clear();
    return writer;
  }
};

}  // namespace lp::dataflow

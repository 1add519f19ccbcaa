#pragma once
// A user's FlatBuffers table as a value: include it where tables are sent. Copies share the bytes; any thread may read.

#include <flatbuffers/flatbuffers.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "lp/wire/codec.h"

namespace lp {

// T is the class that flatc makes for a table. A Table without a value is false, and it travels, too.
template <class T>
  requires std::is_base_of_v<flatbuffers::Table, T>
class Table {
 public:
  Table() = default;
  // The bytes of a builder on which Finish was called: copied.
  explicit Table(const flatbuffers::FlatBufferBuilder& finished)
      : buffer_(
            Buffer::copy_of({reinterpret_cast<const std::byte*>(finished.GetBufferPointer()), finished.GetSize()})) {}

  explicit operator bool() const { return !buffer_.empty(); }
  const T* get() const { return buffer_.empty() ? nullptr : flatbuffers::GetRoot<T>(buffer_.data()); }
  const T* operator->() const { return get(); }
  const T& operator*() const { return *get(); }
  const Buffer& buffer() const { return buffer_; }

 private:
  friend struct Codec<Table>;
  explicit Table(Buffer verified) : buffer_(std::move(verified)) {}

  Buffer buffer_;
};

// What arrives is verified before anybody looks at it: depth, number of tables, every offset. A Table's shape is T's
// name: FlatBuffers lets the schema grow.
template <class T>
struct Codec<Table<T>> {
  static constexpr std::size_t kAlignment = 16;  // the verifier of FlatBuffers 2 accepts odd addresses: we do not
  static constexpr flatbuffers::uoffset_t kMaxDepth = 64;
  static constexpr flatbuffers::uoffset_t kMaxTables = 1'000'000;

  static void encode(Writer& writer, const Table<T>& table) {
    writer.count(table.buffer().size());
    writer.array(table.buffer());
  }
  static Table<T> decode(Reader& reader) {
    Buffer buffer = reader.shared_array(reader.number<std::uint64_t>(), 1, kAlignment);
    if (buffer.empty()) return {};
    if (buffer.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) reader.fail("a FlatBuffers table has 2 GiB or more");
    flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(buffer.data()), buffer.size(), kMaxDepth,
                                   kMaxTables);
    if (!verifier.VerifyBuffer<T>(nullptr)) reader.fail("a FlatBuffers table is malformed");
    return Table<T>(std::move(buffer));
  }
};

}  // namespace lp

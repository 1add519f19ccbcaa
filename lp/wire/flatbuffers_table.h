#pragma once
// A user's FlatBuffers table as a value. Include this header, with the output of flatc, where tables are sent. Copies
// share the bytes; any thread may read.

#include <cstddef>
#include <type_traits>
#include <utility>

#include "lp/wire/codec.h"

namespace flatbuffers {
class Table;
class Verifier;
}  // namespace flatbuffers

namespace lp {
namespace wire {

// Returns the root table of a finished FlatBuffer.
const void* table_root(const Buffer& buffer);

// Reads the bytes of a table and verifies them before anybody uses them: depth, number of tables, every offset.
using VerifyTable = bool(const void* table, flatbuffers::Verifier& verifier);
Buffer read_table(Reader& reader, VerifyTable* verify);

}  // namespace wire

// T is the class that flatc makes for a table. A Table without a value is false, and it travels, too.
template <class T>
  requires std::is_base_of_v<flatbuffers::Table, T>
class Table {
 public:
  Table() = default;
  // Copies the bytes of a flatbuffers::FlatBufferBuilder on which Finish was called.
  template <class Builder>
    requires requires(const Builder& builder) { builder.GetBufferPointer(), builder.GetSize(); }
  explicit Table(const Builder& finished)
      : buffer_(
            Buffer::copy_of({reinterpret_cast<const std::byte*>(finished.GetBufferPointer()), finished.GetSize()})) {}

  explicit operator bool() const { return !buffer_.empty(); }
  const T* get() const { return buffer_.empty() ? nullptr : static_cast<const T*>(wire::table_root(buffer_)); }
  const T* operator->() const { return get(); }
  const T& operator*() const { return *get(); }
  const Buffer& buffer() const { return buffer_; }

 private:
  friend struct Codec<Table>;
  explicit Table(Buffer verified) : buffer_(std::move(verified)) {}

  Buffer buffer_;
};

// A Table's shape is T's name: FlatBuffers lets the schema grow.
template <class T>
struct Codec<Table<T>> {
  static void encode(Writer& writer, const Table<T>& table) {
    writer.count(table.buffer().size());
    writer.array(table.buffer());
  }
  static Table<T> decode(Reader& reader) {
    return Table<T>(wire::read_table(reader, [](const void* table, flatbuffers::Verifier& verifier) {
      return static_cast<const T*>(table)->Verify(verifier);
    }));
  }
};

}  // namespace lp

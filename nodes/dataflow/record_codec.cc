#include "nodes/dataflow/record_codec.h"

#include <string>

namespace lp::dataflow {

namespace {
constexpr std::size_t kFirstBytes = 256;
}  // namespace

void RecordWriter::grow(std::size_t size) {
  const std::size_t capacity = std::max({used_ + size, 2 * capacity_, kFirstBytes});
  Buffer larger = Buffer::uninitialized(capacity);
  char* const begin = reinterpret_cast<char*>(larger.edit().data());
  if (used_ > 0) std::memcpy(begin, begin_, used_);
  block_ = std::move(larger);
  begin_ = begin;
  capacity_ = capacity;
}

Array<std::byte> RecordWriter::take(std::size_t capacity) {
  block_.shrink(used_);
  Array<std::byte> out(std::exchange(block_, {}));
  begin_ = nullptr;
  capacity_ = used_ = 0;
  if (capacity > 0) grow(capacity);
  return out;
}

void RecordWriter::too_long(std::size_t size) {
  throw Error(ErrorKind::failed,
              "a text of " + std::to_string(size) + " bytes is too long for a record: 4 GiB are the most");
}

void RecordBytes::cut_off() { throw Error(ErrorKind::failed, "a record that was stored or received is cut off"); }

void write_message(RecordWriter& out, const Message& message) {
  const auto put = [&](const Buffer& bytes) {
    out.number(static_cast<std::uint64_t>(bytes.size()));
    out.bytes(bytes.data(), bytes.size());
  };
  put(message.body);
  out.number(static_cast<std::uint64_t>(message.arrays.size()));
  for (const Buffer& one : message.arrays) put(one);
}

Message read_message(RecordBytes& in) {
  const auto get = [&] {
    const std::string_view bytes = in.bytes(in.number<std::uint64_t>());
    return Buffer::copy_of(std::as_bytes(std::span(bytes.data(), bytes.size())));
  };
  Message out;
  out.body = get();
  const auto arrays = in.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < arrays; ++i) out.arrays.push_back(get());
  return out;
}

}  // namespace lp::dataflow

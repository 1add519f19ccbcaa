#include "lp/wire/reader.h"

#include <string>

#include "lp/base/error.h"

namespace lp {
namespace {

// Returns the bytes of `count` items. A product that does not fit into memory becomes SIZE_MAX, which no message has.
std::size_t byte_size(std::uint64_t count, std::size_t item_size) {
  std::size_t size = 0;
  return __builtin_mul_overflow(count, item_size, &size) ? SIZE_MAX : size;
}

}  // namespace

void Reader::finish() const {
  if (left() > 0) fail("there are " + std::to_string(left()) + " bytes left over");
  if (next_array_ < arrays_.size()) fail(std::to_string(arrays_.size() - next_array_) + " array frames are left over");
}

std::span<const std::byte> Reader::array(std::uint64_t count, std::size_t item_size) {
  const std::size_t size = byte_size(count, item_size);
  return is_frame(size, next_array_) ? next_frame(size).bytes() : bytes(size);
}

Buffer Reader::shared_array(std::uint64_t count, std::size_t item_size, std::size_t alignment) {
  const std::size_t size = byte_size(count, item_size);
  if (!is_frame(size, next_array_)) return Buffer::copy_of(bytes(size));
  const Buffer& frame = next_frame(size);
  return frame.aligned_to(alignment) ? frame : Buffer::copy_of(frame.bytes());
}

Buffer Reader::name(std::uint64_t count, std::size_t item_size, std::size_t size) {
  const bool is_array =
      byte_size(count, item_size) <= size || next_array_ == arrays_.size() || arrays_[next_array_].size() != size;
  return is_array ? Buffer() : next_frame(size);
}

const Buffer& Reader::next_frame(std::size_t size) {
  if (next_array_ == arrays_.size()) fail("the frame of an array is missing");
  const Buffer& frame = arrays_[next_array_++];
  if (frame.size() != size) {
    fail("the frame of an array has " + std::to_string(frame.size()) + " bytes where " + std::to_string(size) +
         " are announced");
  }
  return frame;
}

void Reader::fail(std::string_view what) const {
  constexpr int kMostTypes = 4;
  std::string text = "a message cannot be read: ";
  text += what;
  text += " (at byte " + std::to_string(at_) + " of " + std::to_string(body_.size());
  int types = 0;
  for (const Nested* nested = innermost_; nested != nullptr && types < kMostTypes; nested = nested->outer_, ++types) {
    text += types == 0 ? ", reading " : " in ";
    text += internal::pretty_argument(nested->type_());
  }
  throw Error(ErrorKind::failed, text + ")");
}

}  // namespace lp

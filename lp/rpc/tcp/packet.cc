#include "lp/rpc/tcp/packet.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "lp/base/error.h"
#include "lp/rpc/link/link.h"

namespace lp::rpc {
namespace {

constexpr std::size_t kAlignment = 16;  // alignment of the parts within a packet: enough for any array
using Number = std::uint64_t;

[[noreturn]] void malformed(const std::string& what) { throw Error(ErrorKind::failed, "malformed packet: " + what); }

constexpr std::size_t aligned(std::size_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }
std::size_t head_size(std::size_t parts) { return aligned((1 + parts) * sizeof(Number)); }

std::byte* put(std::byte* to, const Buffer& part) {
  if (!part.empty()) std::memcpy(to, part.data(), part.size());
  return to + aligned(part.size());
}

Buffer& part(Message& message, std::size_t i) { return i == 0 ? message.body : message.arrays[i - 1]; }

}  // namespace

std::size_t packed_size(const Message& message) {
  SmallParts small;
  std::size_t size = head_size(1 + message.arrays.size());
  if (small(message.body.size())) size += aligned(message.body.size());
  for (const Buffer& array : message.arrays) {
    if (small(array.size())) size += aligned(array.size());
  }
  return size;
}

std::byte* pack(const Message& message, std::byte* to) {
  const std::size_t parts = 1 + message.arrays.size();
  const auto write_number = [at = to](std::size_t number) mutable {
    const Number out = number;
    std::memcpy(at, &out, sizeof out);
    at += sizeof out;
  };
  auto write = write_number;
  write(parts);
  write(message.body.size());
  for (const Buffer& array : message.arrays) write(array.size());
  SmallParts small;
  to += head_size(parts);
  if (small(message.body.size())) to = put(to, message.body);
  for (const Buffer& array : message.arrays) {
    if (small(array.size())) to = put(to, array);
  }
  return to;
}

std::vector<Buffer> pieces(const Message& message) {
  std::vector<Buffer> result;
  SmallParts small;
  const auto cut = [&](const Buffer& part) {
    if (small(part.size())) return;
    for (std::size_t at = 0; at < part.size(); at += kPieceBytes) {
      result.push_back(part.slice(at, std::min(kPieceBytes, part.size() - at)));
    }
  };
  cut(message.body);
  for (const Buffer& array : message.arrays) cut(array);
  return result;
}

void Assembly::add(Buffer content, bool pieces_allowed, std::vector<Message>& messages) {
  if (large_.empty()) {
    add_packet(content, pieces_allowed, messages);
  } else {
    add_piece(std::move(content));
  }
  if (!large_.empty() && done_ == large_.size()) {
    messages.push_back(std::exchange(message_, {}));
    large_.clear();
  }
}

void Assembly::add_packet(const Buffer& packet, bool pieces_allowed, std::vector<Message>& messages) {
  std::size_t at = 0;
  const auto read = [&](std::size_t place) {
    Number number = 0;
    if (packet.size() - at < (place + 1) * sizeof number) malformed("it ends within its header");
    std::memcpy(&number, packet.data() + at + place * sizeof number, sizeof number);
    return static_cast<std::size_t>(number);
  };
  while (at < packet.size()) {
    const std::size_t count = read(0);
    if (count == 0 || count > 1 + kMaxArrayFrames) malformed("a message of " + std::to_string(count) + " parts");
    sizes_.clear();
    for (std::size_t i = 0; i < count; ++i) sizes_.push_back(read(1 + i));
    SmallParts small;
    std::size_t from = at + head_size(count);
    Message message;
    message.arrays.resize(count - 1);
    std::vector<std::size_t> large;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t size = sizes_[i];
      if (size > Link::kLargestFrame) malformed("a part of " + std::to_string(size) + " bytes");
      if (!small(size)) {
        large.push_back(i);
        continue;
      }
      if (from > packet.size() || packet.size() - from < size) malformed("it ends within a part");
      part(message, i) = packet.slice(from, size);
      from += aligned(size);
    }
    at = from;
    if (large.empty()) {
      messages.push_back(std::move(message));
      continue;
    }
    if (at < packet.size()) malformed("there are bytes after the start of a large message");
    if (!pieces_allowed) malformed("there is a large message before the greeting");
    message_ = std::move(message);
    large_ = std::move(large);
    done_ = 0;
    expect_next();
  }
}

// A single piece becomes the whole part, as it came; several pieces are copied together.
void Assembly::expect_next() {
  filled_ = 0;
  if (done_ == large_.size()) return;
  const std::size_t size = sizes_[large_[done_]];
  if (size > kPieceBytes) part(message_, large_[done_]) = Buffer::uninitialized(size);
}

void Assembly::add_piece(Buffer piece) {
  Buffer& whole = part(message_, large_[done_]);
  const std::size_t size = sizes_[large_[done_]];
  if (piece.size() != std::min(kPieceBytes, size - filled_)) malformed("a piece has the wrong size");
  filled_ += piece.size();
  if (size <= kPieceBytes) {
    whole = std::move(piece);
  } else {
    std::memcpy(whole.edit().data() + filled_ - piece.size(), piece.data(), piece.size());
  }
  if (filled_ < size) return;
  ++done_;
  expect_next();
}

}  // namespace lp::rpc

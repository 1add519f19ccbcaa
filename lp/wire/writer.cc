#include "lp/wire/writer.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "lp/base/error.h"

namespace lp {

void replace_names(Message& message, const MessageReceiver& receiver) {
  for (Buffer& array : message.arrays) {
    const std::shared_ptr<Buffer::Elsewhere> bytes = array.elsewhere();
    if (bytes != nullptr && !receiver.opens(bytes->place())) array = bytes->here();
  }
}

Writer::Writer(std::size_t front) {
  if (front > 0) std::memset(room(front), 0, front);
}

Message Writer::take() {
  body_.shrink(written());
  at_ = end_ = nullptr;
  return {std::exchange(body_, {}), std::exchange(arrays_, {})};
}

void Writer::array(const void* data, std::size_t size) {
  if (is_frame(size, arrays_.size())) {
    arrays_.push_back(Buffer::copy_of({static_cast<const std::byte*>(data), size}));
  } else {
    bytes(data, size);
  }
}

void Writer::array(const Buffer& buffer) {
  if (is_frame(buffer.size(), arrays_.size())) {
    arrays_.push_back(
        owner_ == nullptr ? buffer : Buffer::wrap(buffer.data(), buffer.size(), [owner = owner_, held = buffer] {}));
  } else {
    bytes(buffer.data(), buffer.size());
  }
}

bool Writer::name(const Buffer& name) {
  const std::shared_ptr<Buffer::Elsewhere> bytes = name.elsewhere();
  if (receiver_ == nullptr || !is_frame(name.size(), arrays_.size()) || !receiver_->opens(bytes->place())) return false;
  arrays_.push_back(
      owner_ == nullptr
          ? name
          : Buffer::naming(Buffer::wrap(name.data(), name.size(), [owner = owner_, held = name] {}), bytes));
  return true;
}

void Writer::grow(std::size_t size) {
  constexpr std::size_t kFirst = 256;
  const std::size_t used = written();
  Buffer bigger = Buffer::uninitialized(std::max({kFirst, 2 * body_.size(), used + size}));
  const std::span<std::byte> room = bigger.edit();
  if (used > 0) std::memcpy(room.data(), body_.data(), used);
  body_.swap(bigger);
  at_ = room.data() + used;
  end_ = room.data() + room.size();
}

void Writer::Nested::too_deep() {
  throw Error(ErrorKind::failed, "a value cannot be sent: its parts are nested more than " +
                                     std::to_string(kMaxNesting) +
                                     " levels deep; send a flat form, such as a vector with indices");
}

}  // namespace lp

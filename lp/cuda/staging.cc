#include "lp/cuda/staging.h"

#include <algorithm>
#include <cstring>

#include "lp/base/error.h"

namespace lp::cuda {

Stage::~Stage() {
  for (const Piece& one : pieces_) {
    try {
      if (one.used != nullptr) one.used->wait();
    } catch (const Error&) {  // a GPU that has failed reads nothing any more
    }
  }
}

Stage::Piece& Stage::piece(std::size_t number) {
  Piece& one = pieces_[number % pieces_.size()];
  if (one.memory == nullptr) one.memory = device_->pin(kPiece);
  if (one.used != nullptr) one.used->wait();
  return one;
}

void Stage::to_device(Queue& queue, void* to, const std::byte* from, std::size_t size) {
  for (std::size_t at = 0, number = 0; at < size; at += kPiece, ++number) {
    const std::size_t bytes = std::min(kPiece, size - at);
    Piece& one = piece(number);
    std::memcpy(one.memory->data(), from + at, bytes);
    queue.to_device(static_cast<std::byte*>(to) + at, one.memory->data(), bytes);
    one.used = queue.mark();
  }
}

void Stage::to_host(Queue& queue, std::byte* to, const void* from, std::size_t size) {
  const std::size_t count = (size + kPiece - 1) / kPiece;
  const auto bytes_of = [&](std::size_t number) { return std::min(kPiece, size - number * kPiece); };
  for (std::size_t number = 0; number <= count; ++number) {
    if (number < count) {
      Piece& one = piece(number);
      queue.to_host(one.memory->data(), static_cast<const std::byte*>(from) + number * kPiece, bytes_of(number));
      one.used = queue.mark();
    }
    if (number == 0) continue;
    const Piece& before = piece(number - 1);
    std::memcpy(to + (number - 1) * kPiece, before.memory->data(), bytes_of(number - 1));
  }
}

}  // namespace lp::cuda

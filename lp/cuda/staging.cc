#include "lp/cuda/staging.h"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <exception>

#include "lp/base/error.h"

namespace lp::cuda {
namespace {

// Processors that this thread may use.
std::size_t processors() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<std::size_t>(CPU_COUNT(&set)) : 1;
}

}  // namespace

Stage::~Stage() {
  for (const Lane& lane : lanes_) {
    for (const Piece& one : lane.pieces) {
      try {
        if (one.used != nullptr) one.used->wait();
      } catch (const Error&) {  // a GPU that has failed reads nothing any more
      }
    }
  }
}

std::optional<std::size_t> Stage::Cut::take() noexcept {
  const std::size_t begin = next.fetch_add(kPiece, std::memory_order_relaxed);
  return begin < size ? std::optional(begin) : std::nullopt;
}

std::size_t Stage::Cut::bytes_at(std::size_t begin) const noexcept { return std::min(kPiece, size - begin); }

std::byte* Stage::free_memory(Piece& piece) {
  if (piece.memory == nullptr) piece.memory = device_->pin(kPiece);
  if (piece.used != nullptr) piece.used->wait();
  return piece.memory->data();
}

void Stage::run(std::size_t size, const std::function<void(Lane&)>& copy) {
  const std::size_t pieces = (size + kPiece - 1) / kPiece;
  const std::size_t count = std::clamp<std::size_t>(pieces / 2, 1, std::min(kMostLanes, processors()));
  std::vector<std::exception_ptr> errors(count);
  const auto run_lane = [&](std::size_t lane) {
    try {
      copy(lanes_[lane]);
    } catch (...) {
      errors[lane] = std::current_exception();
    }
  };
  if (count > 1 && !threads_) threads_.emplace("copies");
  try {
    for (std::size_t lane = 1; lane < count; ++lane) threads_->run([&run_lane, lane] { run_lane(lane); });
  } catch (const std::exception&) {  // without another thread, those that run copy everything
  }
  run_lane(0);
  if (count > 1) threads_->drain(kNever);
  for (const std::exception_ptr& error : errors) {
    if (error != nullptr) std::rethrow_exception(error);
  }
}

void Stage::to_device(Queue& queue, void* to, const std::byte* from, std::size_t size) {
  Cut cut{.size = size};
  run(size, [&](Lane& lane) {
    for (std::size_t number = 0;; ++number) {
      const std::optional<std::size_t> begin = cut.take();
      if (!begin) return;
      Piece& one = lane.pieces[number % 2];
      std::byte* const memory = free_memory(one);
      const std::size_t bytes = cut.bytes_at(*begin);
      std::memcpy(memory, from + *begin, bytes);
      queue.to_device(static_cast<std::byte*>(to) + *begin, memory, bytes);
      one.used = queue.mark();
    }
  });
}

void Stage::to_host(Queue& queue, std::byte* to, const void* from, std::size_t size) {
  Cut cut{.size = size};
  run(size, [&](Lane& lane) {
    std::optional<std::size_t> before;
    for (std::size_t number = 0;; ++number) {
      const std::optional<std::size_t> begin = cut.take();
      if (begin) {
        Piece& one = lane.pieces[number % 2];
        queue.to_host(free_memory(one), static_cast<const std::byte*>(from) + *begin, cut.bytes_at(*begin));
        one.used = queue.mark();
      }
      if (before) std::memcpy(to + *before, free_memory(lane.pieces[(number + 1) % 2]), cut.bytes_at(*before));
      if (!begin) return;
      before = begin;
    }
  });
}

}  // namespace lp::cuda

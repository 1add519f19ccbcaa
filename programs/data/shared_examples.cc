#include "programs/data/shared_examples.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/secret.h"
#include "lp/wire/codec.h"
#include "lp/wire/eigen.h"
#include "lp/wire/reader.h"
#include "lp/wire/writer.h"

namespace lp {
namespace {

// The layout is: a key; the number of frames; the size of each; the frames, each beginning at a multiple of 64. The
// first frame is the body.
constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kAlignment = Buffer::kAlignment;

std::size_t aligned(std::size_t at) { return (at + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

SharedExamples share(const Examples& examples) { return share(examples, secret_text(kKeyBytes / 2)); }

SharedExamples share(const Examples& examples, const std::string& key) {
  if (key.size() != kKeyBytes) {
    throw Error(ErrorKind::failed, "the key of shared examples must have " + std::to_string(kKeyBytes) +
                                       " characters, not of " + std::to_string(key.size()));
  }
  Writer writer;
  writer.value(examples);
  const Message frames = writer.take();
  std::vector<Buffer> parts{frames.body};
  parts.insert(parts.end(), frames.arrays.begin(), frames.arrays.end());
  std::vector<std::uint64_t> head{parts.size()};
  for (const Buffer& part : parts) head.push_back(part.size());

  const std::size_t begin = aligned(kKeyBytes + head.size() * sizeof head[0]);
  std::size_t size = begin;
  for (const Buffer& part : parts) size += aligned(part.size());
  SharedExamples out{SharedMemory::create("examples", size), {}};
  out.location = {.path = out.memory.path(), .key = key};
  std::byte* to = out.memory.data();
  std::memcpy(to + kKeyBytes, head.data(), head.size() * sizeof head[0]);
  to += begin;
  for (const Buffer& part : parts) {
    if (!part.empty()) std::memcpy(to, part.data(), part.size());
    to += aligned(part.size());
  }
  // Last, since others may look at the memory meanwhile.
  std::atomic_thread_fence(std::memory_order_release);
  std::memcpy(out.memory.data(), key.data(), kKeyBytes);
  return out;
}

std::optional<Examples> shared_examples(const ExamplesLocation& location) {
  if (location.path.empty()) return std::nullopt;
  SharedMemory memory;
  try {
    memory = SharedMemory::open(location.path, SharedMemory::Access::read, std::numeric_limits<std::size_t>::max());
  } catch (const Error&) {
    return std::nullopt;
  }
  if (location.key.size() != kKeyBytes || memory.size() < kKeyBytes ||
      std::memcmp(memory.data(), location.key.data(), kKeyBytes) != 0) {
    return std::nullopt;
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  // Only the writer knows the key, so the rest can be trusted.
  const auto number = [&](std::size_t i) {
    std::uint64_t out = 0;
    std::memcpy(&out, memory.data() + kKeyBytes + i * sizeof out, sizeof out);
    return static_cast<std::size_t>(out);
  };
  const std::size_t count = number(0);
  const std::byte* from = memory.data() + aligned(kKeyBytes + (1 + count) * sizeof(std::uint64_t));
  std::vector<Buffer> arrays;
  for (std::size_t i = 1; i <= count; ++i) {
    arrays.push_back(Buffer::wrap(from, number(i), [] {}));
    from += aligned(number(i));
  }
  Reader reader(arrays.front().bytes(), std::span(arrays).subspan(1));
  auto out = reader.value<Examples>();  // copies
  reader.finish();
  return out;
}

}  // namespace lp

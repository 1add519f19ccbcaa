#include "programs/data/shared_examples.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/hash.h"
#include "lp/base/secret.h"
#include "lp/wire/codec.h"
#include "lp/wire/eigen.h"
#include "lp/wire/reader.h"
#include "lp/wire/writer.h"

namespace lp {
namespace {

// The layout is: a word that is 1 when all is written; a key; the number of frames; the size of each; the frames, each
// beginning at a multiple of 64. The first frame is the body of the examples; the last part is the file of the first
// model, and no frame.
constexpr std::size_t kKey = sizeof(std::uint64_t);  // where it begins
constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kNumbers = kKey + kKeyBytes;
constexpr std::size_t kAlignment = Buffer::kAlignment;

std::size_t aligned(std::size_t at) { return (at + kAlignment - 1) / kAlignment * kAlignment; }

std::atomic_ref<std::uint64_t> written(std::byte* memory) {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(memory));
}

// The memory and its parts, which lie in it.
struct SharedParts {
  SharedMemory memory{};
  std::vector<Buffer> parts{};
};

// Nothing when the memory is not there, or has another key.
std::optional<SharedParts> parts_at(const ExamplesLocation& location) {
  if (location.path.empty()) return std::nullopt;
  SharedParts out;
  try {
    out.memory = SharedMemory::open(location.path, SharedMemory::Access::read, std::numeric_limits<std::size_t>::max());
  } catch (const Error&) {
    return std::nullopt;
  }
  const SharedMemory& memory = out.memory;
  if (location.key.size() != kKeyBytes || memory.size() < kNumbers ||
      written(memory.data()).load(std::memory_order_acquire) != 1 ||
      std::memcmp(memory.data() + kKey, location.key.data(), kKeyBytes) != 0) {
    return std::nullopt;
  }
  // Only the writer knows the key, so the rest can be trusted.
  const auto number = [&](std::size_t i) {
    std::uint64_t value = 0;
    std::memcpy(&value, memory.data() + kNumbers + i * sizeof value, sizeof value);
    return static_cast<std::size_t>(value);
  };
  const std::size_t count = number(0);
  const std::byte* from = memory.data() + aligned(kNumbers + (1 + count) * sizeof(std::uint64_t));
  for (std::size_t i = 1; i <= count; ++i) {
    out.parts.push_back(Buffer::wrap(from, number(i), [] {}));
    from += aligned(number(i));
  }
  return out;
}

// Eight bytes at a time.
std::uint64_t hash_bytes(std::uint64_t hash, const void* data, std::size_t size) {
  const auto* const bytes = static_cast<const std::byte*>(data);
  for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, std::min(sizeof word, size - at));
    hash = hash_combine(hash, word);
  }
  return hash_combine(hash, size);
}

template <class Dense>
std::uint64_t hash_dense(std::uint64_t hash, const Dense& values) {
  hash = hash_combine(hash, static_cast<std::uint64_t>(values.rows()));
  return hash_bytes(hash, values.data(), static_cast<std::size_t>(values.size()) * sizeof(typename Dense::Scalar));
}

std::uint64_t hash_dataset(std::uint64_t hash, const Dataset& data) {
  hash = hash_dense(hash_dense(hash, data.features), data.labels);
  for (Eigen::Index column = 0; column < data.sparse.outerSize(); ++column) {
    for (Eigen::SparseMatrix<float>::InnerIterator at(data.sparse, column); at; ++at) {
      const float value = at.value();
      hash = hash_bytes(hash_combine(hash, static_cast<std::uint64_t>(at.row())), &value, sizeof value);
    }
    hash = hash_combine(hash, static_cast<std::uint64_t>(column));
  }
  for (const std::string& name : data.names) hash = hash_bytes(hash, name.data(), name.size());
  return hash;
}

}  // namespace

SharedExamples share(const Examples& examples) { return share(examples, secret_text(kKeyBytes / 2)); }

SharedExamples share(const Examples& examples, const std::string& key) {
  if (key.size() != kKeyBytes) {
    throw Error(ErrorKind::failed, "the key of shared examples must have " + std::to_string(kKeyBytes) +
                                       " characters, not of " + std::to_string(key.size()));
  }
  Writer writer;
  writer.value(examples.data);
  writer.value(examples.test);
  const Message frames = writer.take();
  std::vector<Buffer> parts{frames.body};
  parts.insert(parts.end(), frames.arrays.begin(), frames.arrays.end());
  parts.push_back(examples.first);
  std::vector<std::uint64_t> head{parts.size()};
  for (const Buffer& part : parts) head.push_back(part.size());

  const std::size_t begin = aligned(kNumbers + head.size() * sizeof head[0]);
  std::size_t size = begin;
  for (const Buffer& part : parts) size += aligned(part.size());
  SharedExamples out{SharedMemory::create("examples", size), {}};
  out.location = {.path = out.memory.path(), .key = key};
  std::byte* to = out.memory.data();
  std::memcpy(to + kKey, key.data(), kKeyBytes);
  std::memcpy(to + kNumbers, head.data(), head.size() * sizeof head[0]);
  to += begin;
  for (const Buffer& part : parts) {
    if (!part.empty()) std::memcpy(to, part.data(), part.size());
    to += aligned(part.size());
  }
  // Others may look at the memory meanwhile.
  written(out.memory.data()).store(1, std::memory_order_release);
  return out;
}

std::optional<Examples> shared_examples(const ExamplesLocation& location) {
  const std::optional<SharedParts> found = parts_at(location);
  if (!found) return std::nullopt;
  const std::span parts(found->parts);
  Reader reader(parts.front().bytes(), parts.subspan(1, parts.size() - 2));
  Examples out;
  out.data = reader.value<Dataset>();  // copies
  out.test = reader.value<Dataset>();
  reader.finish();
  out.first = Buffer::copy_of(parts.back().bytes());
  return out;
}

std::optional<Buffer> shared_first(const ExamplesLocation& location) {
  const std::optional<SharedParts> found = parts_at(location);
  if (!found) return std::nullopt;
  return Buffer::copy_of(found->parts.back().bytes());
}

std::uint64_t bytes_hash(std::span<const std::byte> bytes) { return hash_bytes(0, bytes.data(), bytes.size()); }

std::uint64_t examples_hash(const Examples& examples) {
  return hash_dataset(hash_dataset(0, examples.data), examples.test);
}

}  // namespace lp

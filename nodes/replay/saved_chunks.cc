#include "nodes/replay/saved_chunks.h"

#include <cstdint>
#include <cstring>
#include <utility>

#include "lp/base/array.h"
#include "lp/base/error.h"

namespace lp::replay {
namespace {

constexpr const char* kKeys = "chunks/keys";
constexpr const char* kSteps = "chunks/steps";
constexpr const char* kRowBytes = "chunks/row_bytes";
constexpr const char* kCompressed = "chunks/compressed";
constexpr const char* kSizes = "chunks/sizes";
constexpr const char* kData = "chunks/data";  // the bytes of all, in frames that hold one large or several small ones

// Puts small chunks together, because each frame takes room in the index of the file.
class Packer {
 public:
  static constexpr std::size_t kSmall = std::size_t{64} << 10;
  static constexpr std::size_t kPack = std::size_t{1} << 20;

  void add(const Buffer& bytes) {
    if (bytes.size() >= kSmall) {
      end_pack();
      frames_.arrays.push_back(bytes);
      return;
    }
    if (used_ + bytes.size() > pack_.size()) end_pack();
    if (pack_.empty()) pack_ = Buffer::uninitialized(kPack);
    std::memcpy(pack_.edit().data() + used_, bytes.data(), bytes.size());
    used_ += bytes.size();
  }
  Message take() {
    end_pack();
    return std::move(frames_);
  }

 private:
  void end_pack() {
    if (used_ > 0) frames_.arrays.push_back(Buffer::copy_of(pack_.bytes().first(used_)));
    used_ = 0;
  }

  Message frames_{};
  Buffer pack_{};
  std::size_t used_ = 0;
};

[[noreturn]] void fail_damaged() {
  throw Error(ErrorKind::failed, "the saved chunks of a replay server are damaged: their arrays differ in length");
}

// Takes the chunks' bytes out of the frames again.
class Unpacker {
 public:
  explicit Unpacker(const std::vector<Buffer>& frames) : frames_(frames) {}

  // A copy: the whole file is one piece of memory, which a chunk must not keep alive.
  Buffer take(std::uint64_t size) {
    if (frame_ < frames_.size() && at_ == frames_[frame_].size()) {
      ++frame_;
      at_ = 0;
    }
    if (frame_ == frames_.size() || size > frames_[frame_].size() - at_) fail_damaged();
    Buffer bytes = Buffer::copy_of(frames_[frame_].bytes().subspan(at_, size));
    at_ += size;
    return bytes;
  }

 private:
  const std::vector<Buffer>& frames_;
  std::size_t frame_ = 0;
  std::size_t at_ = 0;
};

}  // namespace

void save_chunks(Checkpoint& out, std::span<const ChunkRef> chunks) {
  const std::size_t size = chunks.size();
  Array<std::uint64_t> keys(size);
  Array<std::uint64_t> row_bytes(size);
  Array<std::uint32_t> steps(size);
  Array<std::uint8_t> compressed(size);
  Array<std::uint64_t> sizes(size);
  Packer data;
  for (std::size_t i = 0; i < size; ++i) {
    const Chunk& chunk = *chunks[i];
    keys.edit()[i] = chunk.key();
    row_bytes.edit()[i] = chunk.row_bytes();
    steps.edit()[i] = chunk.steps();
    compressed.edit()[i] = chunk.compressed() ? 1 : 0;
    sizes.edit()[i] = chunk.size();
    data.add(chunk.bytes());
  }
  out.put(kKeys, keys);
  out.put(kRowBytes, row_bytes);
  out.put(kSteps, steps);
  out.put(kCompressed, compressed);
  out.put(kSizes, sizes);
  out.put_message(kData, data.take());
}

std::vector<ChunkRef> load_chunks(const Checkpoint& in, ChunkStore& store) {
  const auto keys = in.get<Array<std::uint64_t>>(kKeys);
  const auto row_bytes = in.get<Array<std::uint64_t>>(kRowBytes);
  const auto steps = in.get<Array<std::uint32_t>>(kSteps);
  const auto compressed = in.get<Array<std::uint8_t>>(kCompressed);
  const auto sizes = in.get<Array<std::uint64_t>>(kSizes);
  const Message data = in.get_message(kData);
  const std::size_t size = keys.size();
  if (row_bytes.size() != size || steps.size() != size || compressed.size() != size || sizes.size() != size) {
    fail_damaged();
  }
  Unpacker unpacker(data.arrays);
  std::vector<ChunkRef> chunks;
  chunks.reserve(size);
  for (std::size_t i = 0; i < size; ++i) {
    const Array<std::uint8_t> bytes(unpacker.take(sizes[i]));
    chunks.push_back(
        store.add({.key = keys[i], .steps = steps[i], .compressed = compressed[i] != 0, .bytes = bytes}, row_bytes[i]));
  }
  return chunks;
}

}  // namespace lp::replay

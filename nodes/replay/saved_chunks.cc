#include "nodes/replay/saved_chunks.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "lp/base/array.h"
#include "lp/base/error.h"
#include "nodes/replay/chunk_compression.h"
#include "nodes/replay/columns.h"

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

[[noreturn]] void fail_chunks(const std::string& what) {
  fail_damaged("the saved chunks of the replay server are", what);
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
    const std::uint64_t left = frame_ == frames_.size() ? 0 : frames_[frame_].size() - at_;
    if (size > left) {
      fail_chunks("chunks/sizes asks for " + std::to_string(size) + " bytes where chunks/data has " +
                  std::to_string(left) + " left");
    }
    if (size == 0) return {};
    Buffer bytes = Buffer::copy_of(frames_[frame_].bytes().subspan(at_, size));
    at_ += size;
    return bytes;
  }
  void finish() const {
    const bool at_end = frame_ == frames_.size() || (frame_ + 1 == frames_.size() && at_ == frames_[frame_].size());
    if (!at_end) fail_chunks("chunks/data has more bytes than chunks/sizes has together");
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

void fail_damaged(const std::string& owner, const std::string& what) {
  throw Error(ErrorKind::failed, owner + " damaged: " + what +
                                     "; import the numbers again as `lp checkpoint export` wrote them, or take another "
                                     "checkpoint");
}

namespace {

// What describes the chunks, with an element for each.
struct Descriptions {
  Array<std::uint64_t> keys;
  Array<std::uint64_t> row_bytes;
  Array<std::uint32_t> steps;
  Array<std::uint8_t> compressed;
  Array<std::uint64_t> sizes;

  explicit Descriptions(const Checkpoint& in)
      : keys(in.get<Array<std::uint64_t>>(kKeys)),
        row_bytes(in.get<Array<std::uint64_t>>(kRowBytes)),
        steps(in.get<Array<std::uint32_t>>(kSteps)),
        compressed(in.get<Array<std::uint8_t>>(kCompressed)),
        sizes(in.get<Array<std::uint64_t>>(kSizes)) {
    const auto check_length = [&](const char* name, std::size_t length) {
      if (length == keys.size()) return;
      fail_chunks(std::string(name) + " has " + std::to_string(length) + " elements, but " + kKeys + " has " +
                  std::to_string(keys.size()));
    };
    check_length(kRowBytes, row_bytes.size());
    check_length(kSteps, steps.size());
    check_length(kCompressed, compressed.size());
    check_length(kSizes, sizes.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (row_bytes[i] == 0 || row_bytes[i] > Layout::kMostBytes) fail("row_bytes", i, std::to_string(row_bytes[i]));
      if (steps[i] == 0) fail("steps", i, "0");
      if (compressed[i] > 1) fail("compressed", i, std::to_string(compressed[i]) + ", and not 0 or 1");
    }
  }

 private:
  [[noreturn]] static void fail(const char* array, std::size_t i, const std::string& is) {
    fail_chunks("chunks/" + std::string(array) + " of chunk " + std::to_string(i) + " is " + is);
  }
};

}  // namespace

std::vector<ChunkRef> load_chunks(const Checkpoint& in, ChunkStore& store) {
  const Descriptions all(in);
  const Message data = in.get_message(kData);
  Unpacker unpacker(data.arrays);
  std::vector<ChunkRef> chunks;
  chunks.reserve(all.keys.size());
  for (std::size_t i = 0; i < all.keys.size(); ++i) {
    const Array<std::uint8_t> bytes(unpacker.take(all.sizes[i]));
    const std::uint64_t rows = all.steps[i] * all.row_bytes[i];
    const std::uint64_t size = all.compressed[i] != 0 ? size_of_compressed(bytes.buffer().bytes()) : bytes.size();
    if (size != rows) {
      fail_chunks("chunk " + std::to_string(i) + " has " + std::to_string(size) + " bytes of rows, but " +
                  std::to_string(all.steps[i]) + " steps of " + std::to_string(all.row_bytes[i]) +
                  " chunks/row_bytes need " + std::to_string(rows));
    }
    chunks.push_back(
        store.add({.key = all.keys[i], .steps = all.steps[i], .compressed = all.compressed[i] != 0, .bytes = bytes},
                  all.row_bytes[i]));
  }
  unpacker.finish();
  return chunks;
}

}  // namespace lp::replay

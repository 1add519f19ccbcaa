// Writes and reads the file of a checkpoint (checkpoint.md).

#define XXH_INLINE_ALL
#include "lp/base/file.h"

#include <flatbuffers/flatbuffers.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "lp/checkpoint/checkpoint.h"
#include "lp/checkpoint/checkpoint_generated.h"

namespace lp {
namespace {

using Path = std::filesystem::path;

// As in PNG: a byte that is no text, both ends of lines, and the end of a DOS file.
constexpr std::array<char, 8> kMagic{'\x89', 'l', 'p', 'c', '\r', '\n', '\x1a', '\n'};
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kAlignment = 64;
constexpr std::size_t kLargestIndex = 1 << 30;

struct Head {
  std::array<char, 8> magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t reserved = 0;
  std::uint64_t file_size = 0;
  std::uint64_t index_offset = 0;
  std::uint64_t index_size = 0;
  std::uint64_t index_checksum = 0;
  std::uint64_t reserved_too = 0;
  std::uint64_t checksum = 0;  // checksum of the fields before it
};
static_assert(sizeof(Head) == kAlignment);

std::uint64_t checksum_of(std::span<const std::byte> bytes) { return XXH64(bytes.data(), bytes.size(), 0); }

std::uint64_t checksum_of(const Head& head) { return XXH64(&head, offsetof(Head, checksum), 0); }

constexpr std::uint64_t aligned(std::uint64_t offset) { return (offset + kAlignment - 1) / kAlignment * kAlignment; }

[[noreturn]] void refuse(const Path& file, const std::string& why) {
  throw Error(ErrorKind::failed, "cannot read the checkpoint " + file.string() + ": " + why);
}

// The parts of a file, one after the other, each from a multiple of 64 on.
class Parts {
 public:
  fb::Section add(std::span<const std::byte> bytes) {
    static constexpr std::array<std::byte, kAlignment> kZeros{};
    const std::uint64_t offset = aligned(size_);
    if (offset > size_) parts_.push_back(std::span(kZeros).first(static_cast<std::size_t>(offset - size_)));
    parts_.push_back(bytes);
    size_ = offset + bytes.size();
    return {offset, bytes.size(), checksum_of(bytes)};
  }
  std::uint64_t size() const { return size_; }
  std::span<const std::span<const std::byte>> parts() const { return parts_; }

 private:
  std::vector<std::span<const std::byte>> parts_;
  std::uint64_t size_ = 0;
};

Head read_head(std::span<const std::byte> bytes, std::uint64_t file_size, const Path& file) {
  Head head;
  if (file_size == 0) refuse(file, "it is empty");
  if (bytes.size() < sizeof head) refuse(file, "it is too short for a checkpoint");
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.magic != kMagic) refuse(file, "it does not begin like a checkpoint");
  if (head.version != kVersion) {
    refuse(file, "its format is version " + std::to_string(head.version) + ", but this program reads version " +
                     std::to_string(kVersion));
  }
  if (head.checksum != checksum_of(head)) refuse(file, "its header is corrupted");
  if (head.file_size != file_size) {
    refuse(file, "it has " + std::to_string(file_size) + " bytes instead of " + std::to_string(head.file_size) +
                     (file_size < head.file_size ? ": it was only partly written" : ": something was appended"));
  }
  if (head.index_offset > file_size || head.index_size != file_size - head.index_offset ||
      head.index_size > kLargestIndex || head.index_offset % kAlignment != 0) {
    refuse(file, "its header is malformed");
  }
  return head;
}

// `bytes` must be aligned and outlive the result.
const fb::CheckpointIndex& read_index(std::span<const std::byte> bytes, const Head& head, const Path& file) {
  if (checksum_of(bytes) != head.index_checksum) refuse(file, "its index is corrupted");
  flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (!verifier.VerifyBuffer<fb::CheckpointIndex>(nullptr)) refuse(file, "its index is malformed");
  const auto& index = *flatbuffers::GetRoot<fb::CheckpointIndex>(bytes.data());
  // Tables may share parts, so a small index may describe a lot. This counts the bytes that the index takes when
  // nothing is shared.
  std::uint64_t needed = index.node()->size();
  for (const fb::CheckpointEntry* entry : *index.entries()) {
    const std::size_t arrays = entry->arrays() == nullptr ? 0 : entry->arrays()->size();
    // The verifier does not check the addresses of structs in a vector.
    if (arrays > 0 && reinterpret_cast<std::uintptr_t>(entry->arrays()->Data()) % alignof(fb::Section) != 0) {
      refuse(file, "its index is malformed");
    }
    needed += entry->name()->size() + entry->type()->size() + (1 + arrays) * sizeof(fb::Section);
  }
  if (needed > bytes.size()) refuse(file, "its index is malformed");
  return index;
}

// Walks through the file's sections, which follow each other without a gap, so that no byte is used twice or not at
// all.
class Sections {
 public:
  Sections(const Head& head, const Path& file) : file_(file), end_(head.index_offset) {}
  void next(const fb::Section& section) {
    if (section.offset() != aligned(at_) || section.offset() > end_ || section.size() > end_ - section.offset()) {
      refuse(file_, "its sections are malformed");
    }
    at_ = section.offset() + section.size();
  }
  void finish() const {
    if (aligned(at_) != end_) refuse(file_, "its sections are malformed");
  }
  std::uint64_t at() const { return at_; }

 private:
  const Path& file_;
  std::uint64_t end_;
  std::uint64_t at_ = sizeof(Head);
};

}  // namespace

void Checkpoint::write(const Path& file, std::string_view node, std::uint64_t step) const {
  Head head;
  Parts parts;
  parts.add(std::as_bytes(std::span(&head, 1)));  // filled in at the end

  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<fb::CheckpointEntry>> entries;
  std::vector<fb::Section> arrays;
  for (const auto& [name, entry] : entries_) {
    const fb::Section body = parts.add(entry.message.body.bytes());
    arrays.clear();
    for (const Buffer& array : entry.message.arrays) arrays.push_back(parts.add(array.bytes()));
    if (builder.GetSize() + name.size() + entry.type.size() + arrays.size() * sizeof(fb::Section) > kLargestIndex) {
      throw Error(ErrorKind::failed, "cannot write the checkpoint " + file.string() +
                                         ": it has too many arrays; join many small arrays into one");
    }
    const auto name_at = builder.CreateString(name);
    const auto type_at = builder.CreateString(entry.type);
    const auto arrays_at = builder.CreateVectorOfStructs(arrays);
    entries.push_back(fb::CreateCheckpointEntry(builder, name_at, type_at, &body, arrays_at));
  }
  const auto node_at = builder.CreateString(node.data(), node.size());
  builder.Finish(fb::CreateCheckpointIndex(builder, node_at, step, builder.CreateVector(entries)));
  const fb::Section index =
      parts.add(std::as_bytes(std::span(builder.GetBufferPointer(), std::size_t{builder.GetSize()})));

  head.file_size = parts.size();
  head.index_offset = index.offset();
  head.index_size = index.size();
  head.index_checksum = index.checksum();
  head.checksum = checksum_of(head);
  write_file_durably(file, parts.parts());
}

Checkpoint Checkpoint::read(const Path& file) {
  const InputFile input(file);
  const Head head = read_head(input.read(0, std::min<std::uint64_t>(input.size(), sizeof(Head))).bytes(), input.size(),
                              file);  // checked before memory is taken for the rest
  return parse(input.read(0, head.file_size), file);
}

Checkpoint Checkpoint::parse(const Buffer& bytes, const Path& file) {
  if (!bytes.aligned_to(kAlignment)) return parse(Buffer::copy_of(bytes.bytes()), file);
  const Head head = read_head(bytes.bytes(), bytes.size(), file);
  const fb::CheckpointIndex& index =
      read_index(bytes.bytes().subspan(static_cast<std::size_t>(head.index_offset)), head, file);

  Checkpoint checkpoint;
  checkpoint.node_ = index.node()->str();
  checkpoint.step_ = index.step();
  Sections sections(head, file);
  std::string name;
  const auto zeros = [&](std::uint64_t begin, std::uint64_t end) {
    for (; begin < end; ++begin) {
      if (bytes.data()[begin] != std::byte{}) refuse(file, "there are bytes between its sections");
    }
  };
  const auto take = [&](const fb::Section& section) {
    const std::uint64_t before = sections.at();
    sections.next(section);
    zeros(before, section.offset());
    Buffer taken = bytes.slice(static_cast<std::size_t>(section.offset()), static_cast<std::size_t>(section.size()));
    if (checksum_of(taken.bytes()) != section.checksum()) refuse(file, "\"" + name + "\" is corrupted");
    return taken;
  };
  for (const fb::CheckpointEntry* in : *index.entries()) {
    name = in->name()->str();
    Entry entry{.type = in->type()->str(), .message = {.body = take(*in->body())}};
    if (in->arrays() != nullptr) {
      for (const fb::Section* array : *in->arrays()) entry.message.arrays.push_back(take(*array));
    }
    if (name.empty() || !checkpoint.entries_.emplace(name, std::move(entry)).second) {
      refuse(file, "its index names \"" + name + "\" twice, or not at all");
    }
  }
  sections.finish();
  zeros(sections.at(), head.index_offset);
  return checkpoint;
}

CheckpointInfo Checkpoint::inspect(const Path& file) {
  const InputFile input(file);
  const Buffer first = input.read(0, std::min<std::uint64_t>(input.size(), sizeof(Head)));
  const Head head = read_head(first.bytes(), input.size(), file);
  const Buffer bytes = input.read(head.index_offset, head.index_size);
  const fb::CheckpointIndex& index = read_index(bytes.bytes(), head, file);

  CheckpointInfo info{.node = index.node()->str(),
                      .step = index.step(),
                      .file_size = head.file_size,
                      .checksum = head.checksum,
                      .entries = {}};
  Sections sections(head, file);
  for (const fb::CheckpointEntry* in : *index.entries()) {
    std::uint64_t size = in->body()->size();
    sections.next(*in->body());
    if (in->arrays() != nullptr) {
      for (const fb::Section* array : *in->arrays()) {
        sections.next(*array);
        size += array->size();
      }
    }
    info.entries.push_back({in->name()->str(), in->type()->str(), size});
  }
  sections.finish();
  return info;
}

}  // namespace lp

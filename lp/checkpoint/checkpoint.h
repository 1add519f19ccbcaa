#pragma once
// What a service saves of itself, and finds again: named values. save() puts them in, load() gets them out.
//
//   void ParameterServer::save(lp::Checkpoint& out) const { out.put("parameters", parameters_); }
//   void ParameterServer::load(const lp::Checkpoint& in) { parameters_ = in.get<lp::Array<float>>("parameters"); }
//
// A value: it copies without copying arrays, and any number of threads may read one. checkpoint.md has the format of
// the file, which other programs can read.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "lp/wire/codec.h"
#include "lp/wire/frames.h"
#include "lp/wire/shape.h"

namespace lp {

// One entry, for people.
struct CheckpointEntry {
  std::string name{};
  std::string type{};       // "array<f32>"
  std::uint64_t bytes = 0;  // of the body and of the arrays
};

// What stands in a checkpoint file beside the values.
struct CheckpointInfo {
  std::string node{};
  std::uint64_t step = 0;
  std::uint64_t file_size = 0;
  std::uint64_t checksum = 0;  // of everything in the file, through the checksums that it holds
  std::vector<CheckpointEntry> entries{};
};

class Checkpoint {
 public:
  // Keeps `value` under `name`. Throws Error(failed) if the name is empty or there already.
  template <Sendable T>
  void put(std::string name, const T& value) {
    Writer writer;
    writer.value(value);
    insert(std::move(name), {describe<T>(), writer.take()});
  }

  // The value of this name. Throws Error(failed) if there is none, naming what there is, or if it is of another type.
  template <Sendable T>
  T get(std::string_view name) const {
    const Frames& frames = find(name, describe<T>()).frames;
    try {
      Reader reader(frames.body.bytes(), frames.arrays);
      T value = reader.value<T>();
      reader.finish();
      return value;
    } catch (const Error& error) {
      unreadable(name, error);
    }
  }

  // Bytes that are their owner's business, such as lp's own tables.
  void put_frames(std::string name, Frames frames);
  Frames get_frames(std::string_view name) const;

  bool has(std::string_view name) const { return entries_.find(name) != entries_.end(); }
  bool empty() const { return entries_.empty(); }
  std::vector<CheckpointEntry> entries() const;  // by name
  // An entry as it is stored, whatever its type.
  const Frames& stored(std::string_view name) const;
  const std::string& type(std::string_view name) const;

  // Whose it is and of which step, for one that was read.
  const std::string& node() const { return node_; }
  std::uint64_t step() const { return step_; }

  // Writes the file whole or not at all: write_file_durably has the details and the errors.
  void write(const std::filesystem::path& file, std::string_view node, std::uint64_t step) const;

  // Reads and verifies all of the file. Throws Error(failed) that says what is wrong with it: half-written, corrupted,
  // of a newer format, no checkpoint at all.
  static Checkpoint read(const std::filesystem::path& file);
  // The same from the bytes of a file; `file` stands in errors. What is read shares them.
  static Checkpoint parse(const Buffer& bytes, const std::filesystem::path& file);
  // Reads and verifies only the head and the index.
  static CheckpointInfo inspect(const std::filesystem::path& file);

 private:
  struct Entry {
    std::string type{};
    Frames frames{};
  };

  void insert(std::string name, Entry entry);
  const Entry& find(std::string_view name) const;
  const Entry& find(std::string_view name, const std::string& type) const;  // of that type
  [[noreturn]] static void unreadable(std::string_view name, const Error& error);

  std::map<std::string, Entry, std::less<>> entries_;
  std::string node_;
  std::uint64_t step_ = 0;
};

}  // namespace lp

#pragma once
// The named values that a service saves and restores. save() puts them in, load() gets them out.
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
#include "lp/wire/message.h"
#include "lp/wire/shape.h"

namespace lp {

// The description of one entry, for people.
struct CheckpointEntry {
  std::string name{};
  std::string type{};       // "array<f32>"
  std::uint64_t bytes = 0;  // size of the body and of the arrays
};

// The contents of a checkpoint file beside the values.
struct CheckpointInfo {
  std::string node{};
  std::uint64_t step = 0;
  std::uint64_t file_size = 0;
  std::uint64_t checksum = 0;  // covers everything in the file, through the checksums that it holds
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

  // Keeps `value` in place of the one of this name. Throws Error(failed) as get() does.
  template <Sendable T>
  void replace(std::string_view name, const T& value) {
    find(name, describe<T>());
    entries_.erase(entries_.find(name));
    put(std::string(name), value);
  }

  // Returns the value of this name. Throws Error(failed) if there is none, naming the names that exist, and if it has
  // another type.
  template <Sendable T>
  T get(std::string_view name) const {
    const Message& message = find(name, describe<T>()).message;
    try {
      Reader reader(message.body.bytes(), message.arrays);
      T value = reader.value<T>();
      reader.finish();
      return value;
    } catch (const Error& error) {
      unreadable(name, error);
    }
  }

  // Store bytes whose form only their owner knows, such as lp's own tables.
  void put_message(std::string name, Message message);
  Message get_message(std::string_view name) const;

  bool has(std::string_view name) const { return entries_.find(name) != entries_.end(); }
  bool empty() const { return entries_.empty(); }
  std::vector<CheckpointEntry> entries() const;  // sorted by name
  // Returns an entry as it is stored, whatever its type.
  const Message& stored(std::string_view name) const;
  const std::string& type(std::string_view name) const;
  // Keeps bytes in place of those of an entry, whose type stays.
  void replace_stored(std::string_view name, Message message);

  // The node and the step of a checkpoint that was read.
  const std::string& node() const { return node_; }
  std::uint64_t step() const { return step_; }

  // Writes the file whole or not at all: write_file_durably has the details and the errors.
  void write(const std::filesystem::path& file, std::string_view node, std::uint64_t step) const;

  // Reads and verifies the whole file. Throws Error(failed) that names the problem: half-written, corrupted, a newer
  // format, no checkpoint at all.
  static Checkpoint read(const std::filesystem::path& file);
  // Like read(), from the bytes of a file; `file` appears in errors. The values share the bytes.
  static Checkpoint parse(const Buffer& bytes, const std::filesystem::path& file);
  // Reads and verifies only the head and the index.
  static CheckpointInfo inspect(const std::filesystem::path& file);

 private:
  struct Entry {
    std::string type{};
    Message message{};
  };

  void insert(std::string name, Entry entry);
  const Entry& find(std::string_view name) const;
  const Entry& find(std::string_view name, const std::string& type) const;  // the entry must have that type
  [[noreturn]] static void unreadable(std::string_view name, const Error& error);

  std::map<std::string, Entry, std::less<>> entries_;
  std::string node_;
  std::uint64_t step_ = 0;
};

}  // namespace lp

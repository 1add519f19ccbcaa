#pragma once
// Examples that one process has read from their files, and that other processes of its host take from its memory. The
// launcher shares them with the nodes of its host, so that errors in the files are reported before anything starts; on
// other hosts one of the nodes does (host_examples.h). Values; any thread.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "lp/base/array.h"
#include "lp/base/shared_memory.h"
#include "programs/data/data.h"

namespace lp {

struct Examples {
  Dataset data{};
  Dataset test{};  // empty: a part of the data is for testing
  Buffer first{};  // the file of the model that the training starts from, as it was; empty: none
};

// Where the shared examples are: a path of this host, and a key, since on another host the path may be something else.
struct ExamplesLocation {
  std::string path{};  // empty: nowhere
  std::string key{};
};

// The memory must live as long as others may take the examples from it.
struct SharedExamples {
  SharedMemory memory{};
  ExamplesLocation location{};
};
SharedExamples share(const Examples& examples);
// The same under a key that all who take them know already. It has 32 characters.
SharedExamples share(const Examples& examples, const std::string& key);

// The examples, or nothing when they are not there for this process, which may be on another host.
std::optional<Examples> shared_examples(const ExamplesLocation& location);
// Their `first` alone, without a copy of the examples.
std::optional<Buffer> shared_first(const ExamplesLocation& location);

// Hashes that are the same on every host: of bytes, and of the data and test examples.
std::uint64_t bytes_hash(std::span<const std::byte> bytes);
std::uint64_t examples_hash(const Examples& examples);

}  // namespace lp

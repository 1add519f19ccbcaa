#pragma once
// Examples that one process has read from their files, and that other processes of its host take from its memory. So
// files are read and parsed once on a host, and errors in them are reported before anything starts. Values; any thread.

#include <optional>
#include <string>

#include "lp/base/shared_memory.h"
#include "programs/data/data.h"

namespace lp {

struct Examples {
  Dataset data{};
  Dataset test{};  // empty: a part of the data is for testing
};

// Where the shared examples are: a path of this host, and a key, since on another host the path may be something else.
struct ExamplesPlace {
  std::string path{};  // empty: nowhere
  std::string key{};
};

// The memory must live as long as others may take the examples from it.
struct SharedExamples {
  SharedMemory memory{};
  ExamplesPlace place{};
};
SharedExamples share(const Examples& examples);

// The examples, or nothing when they are not there for this process, which may be on another host.
std::optional<Examples> shared_examples(const ExamplesPlace& place);

}  // namespace lp

#pragma once
// Examples that one process of a host reads from their files, for all processes of a run on that host. It is for hosts
// that do not see the launcher's memory (shared_examples.h).
//
// The first process reads, and the others wait for it: it listens at an abstract socket whose name follows
// from the run's key. The kernel removes socket and memory with the process, however it ends; then the next one reads.
// Owned by the program of a node's process; several threads may take the examples at a time.

#include <functional>
#include <string>

#include "lp/base/descriptor.h"
#include "programs/data/shared_examples.h"

namespace lp {

class HostExamples {
 public:
  HostExamples() = default;
  HostExamples(const HostExamples&) = delete;
  HostExamples& operator=(const HostExamples&) = delete;

  // Returns what `read` returns in the first process of this host that calls this with the key. That process keeps the
  // examples in memory as long as this object lives. Throws what `read` throws, in each process.
  Examples take(const std::string& key, const std::function<Examples()>& read);

 private:
  Descriptor socket_{};  // while others can take the examples from here; the one thread that has it uses both members
  SharedExamples shared_{};
};

// What the nodes of a training take on a host.
struct HostFiles {
  HostExamples examples{};
  HostExamples first{};  // the first model, which nodes without examples need
};

}  // namespace lp

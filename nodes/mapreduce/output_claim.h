#pragma once
// A run's claim to the directory in which its output is made. The nodes of the run lock kRunMark in it, so the claim
// lasts as long as one of their processes, also while the master is being restarted. The rest of a dead run can be
// claimed. A file system without locks lets everybody claim. A resource that moves; any thread.

#include <filesystem>
#include <string>
#include <utility>

#include "lp/base/descriptor.h"
#include "lp/program/scratch.h"

namespace lp::dataflow {

class OutputClaim {
 public:
  enum class Content { removed, kept };

  OutputClaim() = default;
  // Makes the directory and claims it for the run. With Content::removed, it is then empty but for the mark.
  // Error::failed when another run has it that lives, it has files that are of no run, or it cannot be made.
  static OutputClaim take(const std::filesystem::path& directory, const std::string& run, Content content);
  // Holds the claim of the own run, too. An empty one when the directory is gone, since the job is over then.
  static OutputClaim share(const std::filesystem::path& directory);

  explicit operator bool() const { return static_cast<bool>(file_); }
  // The run that has ended and whose files were removed; empty: there were none.
  const std::string& replaced() const { return replaced_; }

 private:
  explicit OutputClaim(Descriptor file, std::string replaced = {})
      : file_(std::move(file)), replaced_(std::move(replaced)) {}

  Descriptor file_{};
  std::string replaced_{};
};

// Removes a directory of which late workers still have files open. They make nothing above the directory of their
// runs, so nothing appears under its name after this.
void remove_directory(const std::filesystem::path& directory);

}  // namespace lp::dataflow

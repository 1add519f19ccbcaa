#pragma once
// Saves the policy of an experiment in files, periodically, while it learns: for other programs, and to see how it was
// before. `lp checkpoint export FILE -o DIRECTORY` writes the parameters of such a file for NumPy. (A program recovers
// from a failure with its cuts.)
//
// A node: run() saves, and its handlers run in its turn.

#include <filesystem>
#include <string>

#include "lp/program/context.h"
#include "lp/program/node_type.h"
#include "lp/rpc/client.h"
#include "lp/rpc/core/method.h"
#include "nodes/snapshot_files.h"
#include "programs/experiments/parameter_source.h"

namespace lp {

class PolicySnapshots {
 public:
  // Error::failed when an option does not fit, or the directory cannot be created.
  PolicySnapshots(Client<ParameterSource> learner, const SnapshotOptions& options);

  // Saves until the program stops, as save_snapshots().
  void run(Context& node);

  // Saves the newest parameters to DIRECTORY/policy-STEPS.lpc, if the learner has published others since the last file.
  // Returns the newest file's name. Error::failed when it cannot be written.
  std::string save();

  using Remote = Methods<idempotent<&PolicySnapshots::save>>;

 private:
  const Client<ParameterSource> learner_;
  SnapshotFiles files_;
};

// Reads the policy from such a file. Error::failed when it is missing or damaged, or holds something else.
Learned load_policy(const std::filesystem::path& file);

// The tables that calls of this class need are compiled once, in policy_snapshots.cc.
extern template const NodeType& internal::node_type<PolicySnapshots>();

}  // namespace lp

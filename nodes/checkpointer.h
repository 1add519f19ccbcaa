#pragma once
// Saves the parameters of parameter servers in files, periodically, while others train. The files serve other programs,
// and show earlier states of a training. (A program recovers from a failure with its own checkpoints: Context::cut.)
//
// A node: its run() saves, and its handlers run in its turn.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include <Eigen/Core>

#include "lp/base/scheduler.h"
#include "lp/checkpoint/checkpoint.h"
#include "lp/program/context.h"
#include "lp/rpc/clients.h"
#include "lp/rpc/core/method.h"
#include "nodes/parameters/parameter_server.h"
#include "nodes/parameters/parameters.h"
#include "nodes/snapshot_files.h"

namespace lp {

struct CheckpointerOptions {
  std::filesystem::path directory{};  // these three as in SnapshotOptions
  Duration period = std::chrono::minutes(1);
  int keep = 5;
  std::function<Eigen::Index()> size{};  // the number of parameters; called once, on the node's host
  std::uint64_t first_step = 0;          // steps that the parameters had before the servers' first one
  Checkpoint beside{};                   // entries that each file holds beside the parameters
};

class Checkpointer {
 public:
  // Error::failed when an option does not fit, or the directory cannot be created.
  Checkpointer(Clients<ParameterServer> servers, CheckpointerOptions options);

  // Saves until the program stops, as save_snapshots(). When a save fails, the existing files stay.
  void run(Context& node);

  // Saves the present parameters to DIRECTORY/parameters-STEP.lpc, if the servers have done a step since its last file.
  // Returns the newest file's name. Error::failed when it cannot be written; Error::disconnected while servers are
  // being restored.
  std::string save();

  using Remote = Methods<idempotent<&Checkpointer::save>>;

 private:
  const Clients<ParameterServer> servers_;
  const CheckpointerOptions options_;
  SnapshotFiles files_;
  Eigen::Index size_ = 0;
};

// Reads the parameters from such a file. Error::failed when the file is missing or damaged, when it holds something
// else, or when its number of parameters is not `size`.
Parameters load_parameters(const std::filesystem::path& file, Eigen::Index size);

}  // namespace lp

#pragma once
// Keeps what parameter servers hold in files, again and again while others train: for use elsewhere, and to look back.
// (What a program needs to go on after a failure are its cuts: Context::cut.)
//
// A node: its run() saves, and its handlers run in its turn.

#include <cstdint>
#include <deque>
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

namespace lp {

struct CheckpointerOptions {
  std::filesystem::path directory{};          // on the node's host; made when it is not there
  Duration period = std::chrono::minutes(1);  // from one file to the next
  int keep = 5;                               // of its files the newest; it removes those that it wrote before
  std::function<Eigen::Index()> size{};       // of the parameters; asked once, where the node runs
  Checkpoint beside{};                        // what a file has beside the parameters
};

class Checkpointer {
 public:
  // Error::failed when an option does not fit, or the directory cannot be made.
  Checkpointer(Clients<ParameterServer> servers, CheckpointerOptions options);

  // Saves until the program stops. What cannot be written is said on standard error, and tried again the next time; the
  // files that are there stay.
  void run(Context& node);

  // Saves what the servers hold now, if they have done a step since the last file: DIRECTORY/parameters-STEP.lpc.
  // Returns the newest file's name. Error::failed when it cannot be written; Error::disconnected while servers are
  // restored.
  std::string save();

  using Remote = Methods<idempotent<&Checkpointer::save>>;

 private:
  void remove_old();

  const Clients<ParameterServer> servers_;
  const CheckpointerOptions options_;
  Eigen::Index size_ = 0;
  std::uint64_t saved_ = 0;                      // the step of the last of
  std::deque<std::filesystem::path> written_{};  // the files that are there
};

// What such a file holds. Error::failed when there is none, it is damaged, or holds something else, or as many
// parameters as another model has.
Parameters load_parameters(const std::filesystem::path& file, Eigen::Index size);

}  // namespace lp

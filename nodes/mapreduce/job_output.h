#pragma once
// The output of a map-reduce while it is made: everything is in OUTPUT.partial, and one rename makes it visible. Owned
// by a master; one thread at a time.

#include <cstdint>
#include <string>

#include "nodes/mapreduce/map_reduce_options.h"
#include "nodes/mapreduce/output_claim.h"

namespace lp::dataflow {

class JobOutput {
 public:
  // `run` names the run. `restarted`: an earlier incarnation of the master may have published the output.
  JobOutput(const MapReduceOptions& options, std::string run, bool restarted);

  // Makes OUTPUT.partial, without parts. Error::failed when the output exists, another run makes it, or it cannot be
  // made.
  void begin();
  // Goes on with the parts that are there. `complete`: all tasks are done, so the output may be published already.
  // Errors as begin().
  void go_on(bool complete);
  bool claimed() const { return static_cast<bool>(claim_); }  // whether this run has OUTPUT.partial
  bool published() const;                                     // and no part is missing
  bool has_part(std::uint32_t partition) const;
  // Makes the whole output visible. After a restart it may be visible.
  void publish();
  // Removes OUTPUT.partial, if this run has it.
  void remove();

 private:
  void take_back();
  void check_output() const;
  void make_directories() const;

  const MapReduceOptions& options_;
  const std::string run_;
  const bool restarted_;
  OutputClaim claim_{};
};

}  // namespace lp::dataflow

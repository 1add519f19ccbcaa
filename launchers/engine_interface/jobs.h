#pragma once
// The jobs of an engine: a job runs a program again inside a cluster, where its first process is the coordinator. Jobs
// is the view from outside, for launches and for the lp command; OwnJob is the view of that process. Interfaces without
// state; any thread may use them.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "launchers/record/job_state.h"
#include "launchers/record/records.h"
#include "lp/base/scheduler.h"

namespace lp::launch {

struct Launch;

// Between two queries of a job, because no engine calls us.
inline constexpr auto kJobPeriod = std::chrono::milliseconds(500);

// The request of a person to end a job from outside.
struct Cancellation {
  std::string by{};      // "ann (lp stop)"
  std::string reason{};  // empty: none was given
  bool force = false;    // end all processes of the job at once
};

class Jobs {
 public:
  virtual ~Jobs() = default;
  virtual std::string_view engine() const = 0;  // its name for people: "Slurm"
  // "job 17"; empty: the run has no job.
  virtual std::string name_of(const RunRecord& run) const = 0;
  // Asks the engine. The result of a job that has ended is put into the run's directory, if the engine has kept it.
  // Throws Error when the engine does not answer.
  virtual JobState poll(const RunRecord& run, const std::filesystem::path& directory) const = 0;
  // Where the coordinator is: "on n1", "in cluster".
  virtual std::string place_of(const RunRecord& run, const JobState& state) const = 0;
  // Describes a job that has begun: "runs; its coordinator is on n1".
  virtual std::string activity_of(const RunRecord& run, const JobState& state) const = 0;
  // Returns true if the run's files are beside its coordinator only, and go with it.
  virtual bool keeps_files() const = 0;
  // The command that runs the program's own file beside the coordinator, with this flag.
  virtual std::vector<std::string> command_beside(const RunRecord& run, const JobState& state,
                                                  const std::string& flag) const = 0;
  // Ends the job. Returns what was done if that is final, and nothing if the job still has to end. Throws Error when
  // the engine refuses.
  virtual std::string cancel(const RunRecord& run, const std::filesystem::path& directory,
                             const Cancellation& how) const = 0;
  // Removes the objects that the engine keeps of a job that has ended. Throws Error when the engine refuses.
  virtual void remove(const RunRecord& run) const = 0;
};

class OwnJob {
 public:
  virtual ~OwnJob() = default;
  virtual std::string number() const = 0;  // for RunRecord::job
  // Returns true if the directory was left for this job, by its submission or by its start before this one.
  virtual bool continues(const std::filesystem::path& directory) const = 0;
  // A job may begin again while its last start still runs on a host that the engine has lost. The newer start claims
  // the directory; the older one checks the claim and leaves.
  virtual void claim(const std::filesystem::path& directory) const = 0;
  virtual bool is_superseded(const std::filesystem::path& directory) const = 0;
  // The run has ended, and all is written. Leaves the result where the engine keeps it, or makes the job begin again.
  // `advanced`: the run has completed a cut of its own.
  virtual void finish(const Launch& launch, const RunResult& result, bool advanced) const = 0;
};

}  // namespace lp::launch

#pragma once
// The places where the groups of a program are to run, from `groups` of a YAML file. A placement never changes the
// topology: it names groups that the program has, and replaces the program's options for them. Values; they copy.
//
//   groups:
//     worker:
//       launcher: slurm             # wins over --launch
//       hosts: [a, b]
//       cpus: 2                     # cores for each node; 0.5 is half a core
//       gpus: 1                     # for each node; 0.5 is half of one, which others share
//       memory: 512M                # for each node; bytes, or with K, M, G or T: powers of 1024
//       environment: {OMP_NUM_THREADS: 2}
//       directory: /data/run
//       slurm: [--partition=gpu]    # options of sbatch for the part of the job that has these nodes
//       on_failure: {restart: 3}    # or stop, or ignore, or {restart: {budget: 3, backoff: 0.5}}: seconds
//       heartbeat: 5                # seconds

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lp/config/yaml.h"

namespace lp {

struct GroupPlacement {
  struct OnFailure {
    enum class Action : std::uint8_t { stop, restart, ignore };
    Action action = Action::stop;
    int budget = 0;                   // restart: how many times for each node
    std::optional<double> backoff{};  // restart: seconds before the first restart; empty: the program's value
  };

  std::string group{};
  std::string file{};  // the file that names the group
  int line = 0;

  std::optional<std::string> launcher{};
  std::vector<std::string> hosts{};  // empty: not given
  std::vector<std::string> slurm{};
  std::optional<double> cpus{};
  std::optional<double> gpus{};
  std::optional<std::uint64_t> memory{};  // bytes
  std::optional<std::map<std::string, std::string>> environment{};
  std::optional<std::string> directory{};
  std::optional<OnFailure> on_failure{};
  std::optional<double> heartbeat{};  // seconds

  std::string location() const { return file + ":" + std::to_string(line); }
};

// Reads the value of `groups`, in the order of the file. Errors (failed) name file, line and column.
std::vector<GroupPlacement> read_placements(const YamlNode& groups, const std::string& file);

}  // namespace lp

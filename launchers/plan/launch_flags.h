#pragma once
// The flags of every program, beside those of its own configuration. A value and functions.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "launchers/plan/engine_choice.h"
#include "launchers/plan/launch_options.h"
#include "lp/config/config.h"

namespace lp::launch {

enum class TerminalView : std::uint8_t { here, tmux };

struct LaunchFlags {
  std::string config{};
  std::string launch = "threads";
  std::vector<std::string> hosts{};
  std::string ssh = "ssh";
  std::vector<std::string> slurm{};
  std::string image{};
  std::vector<std::string> node_selector{};
  std::vector<std::string> tolerations{};
  std::string kubectl = "kubectl";
  double time_margin = 60;
  bool requeue = false;
  bool submit = false;
  bool render = false;
  std::string program{};
  std::uint64_t seed = 0;
  bool dry_run = false;
  std::string graph{};
  bool json = false;
  Show output = Show::lines;
  std::string directory{};
  std::string resume{};
  double heartbeat = 30;
  double grace = 10;
  TerminalView terminal = TerminalView::here;
  std::string debug{};
  bool pin = false;
  Path path = Path::nearest;
  std::string listen = "127.0.0.1";
  bool curve = false;
  std::string metrics{};
  bool serve = false;

  static constexpr auto fields = lp::fields(
      lp::field("config", "YAML file with values for these flags, and with `groups`"),
      lp::field("launch",
                "where nodes run: as threads or processes of this host, on `hosts` by ssh, in a slurm job, or in "
                "kubernetes pods; `launcher` of a group in the YAML file has priority"),
      lp::field("hosts",
                "for ssh: each is NAME, NAME:SLOTS or NAME:SLOTS:ADDRESS; a host with 4 slots gets twice as many nodes "
                "as one with 2"),
      lp::field("ssh", "the command that reaches a host, with its options"),
      lp::field("slurm",
                "options of sbatch for the job, added to those that the plan needs: --partition=long,--time=60"),
      lp::field("time_margin",
                "for slurm: this many seconds before the job's time limit, the run stops after its next checkpoint",
                lp::positive),
      lp::field(
          "requeue",
          "for slurm: after its time limit and when a host fails, the job starts again, from the last checkpoint"),
      lp::field("image", "for kubernetes: an image whose entry point is the program; `lp image` makes one"),
      lp::field("node_selector", "for kubernetes: pods run only on cluster nodes with this LABEL=VALUE"),
      lp::field("tolerations", "for kubernetes: taints that the pods tolerate: KEY, KEY:EFFECT or KEY=VALUE:EFFECT"),
      lp::field("kubectl", "the command that reaches the cluster, with its options: kubectl --context=C --namespace=N"),
      lp::field("submit", "give the job to Slurm or Kubernetes, print its number or name, and do not wait for it"),
      lp::field("render", "print the job's script or manifests, and submit nothing"),
      lp::field("program", "which of the binary's programs to run; without it, the first"),
      lp::field("seed", "seed of all random numbers of the program"),
      lp::field("dry_run", "print the plan, as JSON with --json, and start nothing"),
      lp::field("graph", "draw the program into this file, .dot or .svg, and start nothing"),
      lp::field("json",
                "print the result as one line of JSON on standard output, and everything else on standard error"),
      lp::field("output", "what the terminal shows: the output of the nodes, only their progress, or nothing"),
      lp::field(
          "directory",
          "run directory, with plan, status, logs and checkpoints; without it, a new one below ~/.local/state/lp/runs"),
      lp::field(
          "resume",
          "continue this run from its last complete checkpoint, with its configuration and seed: its name, `last`, or "
          "its directory; `launch` and the other flags of this kind must be given anew"),
      lp::field("heartbeat", "a service that does not answer within this many seconds counts as hanging",
                lp::endless(lp::positive)),
      lp::field("grace", "seconds that nodes have to end after a stop, before they are killed",
                lp::endless(lp::non_negative)),
      lp::field("terminal", "tmux: a pane for each node, following its log"),
      lp::field("debug", "run this node under gdb in this terminal; no node counts as hanging then"),
      lp::field("pin", "nodes with `cpus` of one or more get their own processors"),
      lp::field("path", "the path of all calls; nearest: each call takes the shortest path that exists"),
      lp::field("listen", "address of this host at which nodes listen; all traffic beyond loopback is encrypted"),
      lp::field("curve", "encrypt and authenticate TCP on loopback too"),
      lp::field(
          "metrics",
          "serve metrics for Prometheus at [ADDRESS:]PORT, on this host alone without an address; 0: a free port"),
      lp::field("serve",
                "let a program in which no node has run() serve until Ctrl-C; no effect on other programs, which end "
                "with their "
                "work"));
};

// The options of a run of this program that the flags ask for. Throws Error for malformed hosts.
LaunchOptions options_of(const LaunchFlags& flags, const Engines& engines, const std::string& program);
// Throws Error for a flag that has no meaning for the engines of the program's groups, if it is not at its default,
// or is among `given`: the paths of the fields that the command line names. The error names the engines for which it
// has a meaning.
void check_flags(const LaunchFlags& flags, const EngineChoice& choice, const Engines& engines,
                 std::span<const std::string> given);
// Throws Error for a flag of the command line with an empty value where that can only be a mistake, such as an unset
// variable of a script.
void check_words(std::span<const char* const> words);

}  // namespace lp::launch

#pragma once
// The flags of every program, beside those of its own configuration. A value and functions.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "launchers/plan/launch_options.h"
#include "launchers/plan/launcher_choice.h"
#include "lp/config/config.h"

namespace lp::internal {

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
  bool serve = false;

  static constexpr auto fields = lp::fields(
      lp::field("config", "YAML file with values for these flags, and with `groups`"),
      lp::field(
          "launch",
          "how nodes run: as threads or processes of this host; as processes of `hosts`, by ssh, of a slurm job, or "
          "of pods in kubernetes; `launcher` of a group in the YAML file wins"),
      lp::field("hosts", "for ssh: NAME, NAME:SLOTS or NAME:SLOTS:ADDRESS of each; 4 slots take twice as many as 2"),
      lp::field("ssh", "the command that reaches a host, with its options"),
      lp::field("slurm", "options of sbatch for the job, beside those that the plan needs: --partition=long,--time=60"),
      lp::field("time_margin",
                "for slurm: seconds before the job's time limit, from which on the run stops after its next cut",
                lp::positive),
      lp::field("requeue",
                "for slurm: after its time limit and when a host fails, the job begins again, from the last cut"),
      lp::field("image", "for kubernetes: has the program as its entry point; lp image makes one"),
      lp::field("node_selector", "for kubernetes: LABEL=VALUE of the nodes that may have pods"),
      lp::field("tolerations",
                "for kubernetes: taints of nodes that may have pods: KEY, KEY:EFFECT or KEY=VALUE:EFFECT"),
      lp::field("kubectl", "the command that reaches the cluster, with its options: kubectl --context=C --namespace=N"),
      lp::field("submit", "give the job to Slurm or Kubernetes, print its number or name, and do not wait for it"),
      lp::field("render", "print the job's script or manifests, and submit nothing"),
      lp::field("program", "which of the binary's programs; the first, if not given"),
      lp::field("seed", "of the whole program", lp::changeable),
      lp::field("dry_run", "print the plan, as JSON with --json, and start nothing"),
      lp::field("graph", "draw the program into this file, .dot or .svg, and start nothing"),
      lp::field("json", "print the result as one line of JSON on standard output, everything else on standard error"),
      lp::field("output", "what the terminal shows: what nodes print, only how far they are, or nothing"),
      lp::field("directory", "of the run: plan, status, logs, checkpoints; below ~/.local/state/lp/runs, if not given"),
      lp::field("resume",
                "go on from the last complete cut of this run, with its configuration: its name, last, or directory"),
      lp::field("heartbeat", "seconds in which a service must answer, or it counts as hanging", lp::positive),
      lp::field("grace", "seconds to end after a stop, before force is used", lp::non_negative),
      lp::field("terminal", "tmux: a pane for each node, following its log"),
      lp::field("debug", "run this node under gdb in this terminal; nothing counts as hanging"),
      lp::field("pin", "nodes with `cpus` of one or more get processors of their own"),
      lp::field("path", "the one path that calls take; nearest: each the shortest that there is"),
      lp::field("listen", "address of this host where nodes are reached; beyond loopback all traffic is encrypted"),
      lp::field("curve", "encrypt and authenticate TCP on loopback too"),
      lp::field("serve", "a program without any run() is meant: it ends with Ctrl-C"));
};

// The options of a run of this program that the flags ask for. Throws Error for malformed hosts.
LaunchOptions options_of(const LaunchFlags& flags, const Engines& engines, const std::string& program);
// Throws Error for a flag that has no meaning for the launchers of the program's groups, if it is not at its default,
// or is among `given`: the paths of the fields that the command line names. The error names the launchers for which it
// has a meaning.
void check_flags(const LaunchFlags& flags, const LauncherChoice& launchers, const Engines& engines,
                 std::span<const std::string> given);
// Throws Error for a flag of the command line with an empty value where that can only be a mistake, such as an unset
// variable of a script.
void check_words(std::span<const char* const> words);

}  // namespace lp::internal

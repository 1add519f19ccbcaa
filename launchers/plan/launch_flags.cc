#include "launchers/plan/launch_flags.h"

#include <algorithm>
#include <string_view>

#include "lp/base/enums.h"
#include "lp/base/error.h"

namespace lp::internal {
namespace {

// A flag that has a meaning for some launchers only.
struct Partial {
  const char* flag;
  bool given;
  std::vector<Launch> launches;
  bool alone = false;  // it has a meaning only where all groups have one of these launchers
};

}  // namespace

void check_flags(const LaunchFlags& flags, const LauncherChoice& launchers) {
  const LaunchFlags none;
  const std::vector<Launch> submitted{Launch::slurm, Launch::kubernetes};
  for (const Partial& one : {
           Partial{"--hosts", !flags.hosts.empty(), {Launch::ssh}},
           {"--ssh", flags.ssh != none.ssh, {Launch::ssh}},
           {"--slurm", !flags.slurm.empty(), {Launch::slurm}},
           {"--time-margin", flags.time_margin != none.time_margin, {Launch::slurm}, true},
           {"--requeue", flags.requeue, {Launch::slurm}, true},
           {"--image", !flags.image.empty(), {Launch::kubernetes}},
           {"--node-selector", !flags.node_selector.empty(), {Launch::kubernetes}},
           {"--tolerations", !flags.tolerations.empty(), {Launch::kubernetes}},
           {"--kubectl", flags.kubectl != none.kubectl, {Launch::kubernetes}},
           {"--submit", flags.submit, submitted, true},
           {"--render", flags.render, submitted, true},
           {"--listen", flags.listen != none.listen, {Launch::processes}},
           {"--curve", flags.curve, {Launch::processes, Launch::ssh, Launch::slurm, Launch::kubernetes}},
           {"--resume", !flags.resume.empty(), {Launch::threads, Launch::processes, Launch::ssh, Launch::slurm}},
           {"--debug", !flags.debug.empty(), {Launch::processes}, true},
           {"--terminal=tmux", flags.terminal == TerminalView::tmux, {Launch::processes, Launch::ssh}},
       }) {
    const bool fits =
        std::any_of(one.launches.begin(), one.launches.end(), [&](Launch launch) { return launchers.has(launch); });
    if (!one.given || (fits && !(one.alone && launchers.several()))) continue;
    std::string fitting;
    for (const Launch launch : one.launches) {
      fitting += (fitting.empty() ? "--launch=" : " or --launch=") + std::string(enum_name(launch));
    }
    throw Error(ErrorKind::failed, std::string(one.flag) + " says nothing to --launch=" + launchers.text() +
                                       ": it goes with " + fitting +
                                       (one.alone && launchers.several() ? " for all groups" : ""));
  }
  if (flags.requeue && flags.directory.empty()) {
    throw Error(ErrorKind::failed,
                "--requeue needs --directory, where any host that the job may have next finds the last cut");
  }
}

void check_words(std::span<const char* const> words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const bool empty_word_follows = i + 1 < words.size() && std::string_view(words[i + 1]).empty();
    if (word != "--resume=" && !(word == "--resume" && empty_word_follows)) continue;
    throw Error(ErrorKind::failed,
                "--resume= names no run: give the directory of the run to go on from, or leave "
                "the flag out to start afresh");
  }
}

}  // namespace lp::internal

#include "launchers/plan/launch_flags.h"

#include <algorithm>
#include <string_view>

#include "lp/base/enums.h"
#include "lp/base/error.h"
#include "lp/config/bind.h"

namespace lp::internal {
namespace {

// A flag that has a meaning for some launchers only.
struct Partial {
  std::string_view field;
  std::vector<Launch> launches;
  bool alone = false;  // it has a meaning only where all groups have one of these launchers
};

// Returns whether the command line or a file gives the field.
bool is_given(const BoundField& field, const BoundField& unset, std::span<const std::string> given) {
  return std::find(given.begin(), given.end(), field.path) != given.end() ||
         field.type->print(field.value) != unset.type->print(unset.value);
}

}  // namespace

void check_flags(const LaunchFlags& flags, const LauncherChoice& launchers, std::span<const std::string> given) {
  LaunchFlags values = flags;
  LaunchFlags defaults;
  const Binding fields = bind(values);
  const Binding unset = bind(defaults);
  const std::vector<Launch> submitted{Launch::slurm, Launch::kubernetes};
  for (const Partial& one : {
           Partial{"hosts", {Launch::ssh}},
           {"ssh", {Launch::ssh}},
           {"slurm", {Launch::slurm}},
           {"time_margin", {Launch::slurm}, true},
           {"requeue", {Launch::slurm}, true},
           {"image", {Launch::kubernetes}},
           {"node_selector", {Launch::kubernetes}},
           {"tolerations", {Launch::kubernetes}},
           {"kubectl", {Launch::kubernetes}},
           {"submit", submitted, true},
           {"render", submitted, true},
           {"listen", {Launch::processes}},
           {"curve", {Launch::processes, Launch::ssh, Launch::slurm, Launch::kubernetes}},
           {"resume", {Launch::threads, Launch::processes, Launch::ssh, Launch::slurm}},
           {"debug", {Launch::processes}, true},
           {"terminal", {Launch::processes, Launch::ssh}},
       }) {
    const BoundField& field = *fields.find(one.field);
    const bool fits =
        std::any_of(one.launches.begin(), one.launches.end(), [&](Launch launch) { return launchers.has(launch); });
    if (!is_given(field, *unset.find(one.field), given) || (fits && !(one.alone && launchers.several()))) continue;
    std::string fitting;
    for (const Launch launch : one.launches) {
      fitting += (fitting.empty() ? "--launch=" : " or --launch=") + std::string(enum_name(launch));
    }
    throw Error(ErrorKind::failed, field.flag() + " says nothing to --launch=" + launchers.text() + ": it goes with " +
                                       fitting + (one.alone && launchers.several() ? " for all groups" : ""));
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

#include "launchers/plan/launch_flags.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "launchers/record/run_directory.h"
#include "lp/base/error.h"
#include "lp/config/bind.h"

namespace lp::launch {
namespace {

// "--requeue", "--terminal=tmux".
std::string given_text(const BoundField& field) {
  const bool is_choice = field.type->kind == internal::FieldType::Kind::choice;
  return field.flag() + (is_choice ? "=" + field.type->print(field.value).front() : "");
}

void check_flag(const BoundField& field, const EngineChoice& choice, const Engines& engines) {
  bool partial = false;
  bool fits = false;
  bool alone = false;
  std::string fitting;
  for (const auto& engine : engines.all()) {
    for (const EngineFlag& flag : engine->flags()) {
      if (flag.name != field.path) continue;
      partial = true;
      alone = choice.several() && flag.alone;
      fits = fits || choice.has(engine->type());
      fitting += (fitting.empty() ? "--launch=" : " or --launch=") + std::string(engine->type().name());
    }
  }
  if (!partial || (fits && !alone)) return;
  throw Error(ErrorKind::failed, given_text(field) + " has no effect with --launch=" + choice.text() + ": it needs " +
                                     fitting + (alone ? " for all groups" : ""));
}

}  // namespace

LaunchOptions options_of(const LaunchFlags& flags, const Engines& engines, const std::string& program) {
  LaunchOptions options{.launch = engines.of(flags.launch).type(),
                        .engines = &engines,
                        .hosts = read_hosts(flags.hosts),
                        .ssh = flags.ssh,
                        .seed = flags.seed,
                        .name = new_run_name(program),
                        .resume = flags.resume,
                        .heartbeat = from_seconds(flags.heartbeat),
                        .grace = from_seconds(flags.grace),
                        .time_margin = from_seconds(flags.time_margin),
                        .show = flags.output,
                        .all_to_error = flags.json,
                        .handle_signals = true,
                        .path = flags.path,
                        .listen = flags.listen,
                        .curve = flags.curve,
                        .metrics = flags.metrics,
                        .serve_forever = flags.serve,
                        .pin = flags.pin,
                        .debug = flags.debug};
  options.directory =
      flags.directory.empty() ? default_run_directory(options.name) : std::filesystem::path(flags.directory);
  return options;
}

void check_flags(const LaunchFlags& flags, const EngineChoice& choice, const Engines& engines,
                 std::span<const std::string> given) {
  LaunchFlags values = flags;
  LaunchFlags none;
  const Binding own = bind(values);
  const Binding defaults = bind(none);
  for (std::size_t i = 0; i < own.fields().size(); ++i) {
    const BoundField& field = own.fields()[i];
    const bool is_default = field.type->print(field.value) == field.type->print(defaults.fields()[i].value);
    if (!is_default || std::find(given.begin(), given.end(), field.path) != given.end())
      check_flag(field, choice, engines);
  }
}

void check_words(std::span<const char* const> words) {
  LaunchFlags none;
  const Binding own = bind(none);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const bool empty_word_follows = i + 1 < words.size() && std::string_view(words[i + 1]).empty();
    for (const BoundField& field : own.fields()) {
      using Type = internal::FieldType;
      if (field.type->kind != Type::Kind::string || field.type->shape != Type::Shape::one) continue;
      const std::string flag = field.flag();
      if (word != flag + "=" && !(word == flag && empty_word_follows)) continue;
      if (field.path != "resume") {
        throw Error(ErrorKind::failed, flag + "= has no value: give one, or leave the flag out");
      }
      throw Error(ErrorKind::failed,
                  "--resume= names no run: give the name or the directory of a run, or leave the flag out to start "
                  "from the beginning");
    }
  }
}

}  // namespace lp::launch

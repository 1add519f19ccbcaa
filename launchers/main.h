#pragma once
// main() of a program: reads its configuration, launches it, and reports its progress and its result.
//
//   int main(int argc, char** argv) { return lp::main<Config>(argc, argv, make_program); }
//
// `make_program(const Config&)` returns the Program. An optional `report(lp::Run&, const Config&)` returns the
// result, an aggregate. It is printed as a small table, or with --json as the last line of standard output. The exit
// code is 0 only if the program succeeded, and 2 if it could not be started.
//
// An optional `prepare(Config&)` completes the configuration with values that are computed once for all processes. It
// is called once, in the coordinator's process, before the program is made. It may throw Error to refuse the start.
//
// main() calls it once, before there are threads.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "launchers/all_engines.h"
#include "launchers/plan/launch_flags.h"
#include "launchers/programs.h"
#include "launchers/run.h"
#include "lp/base/error.h"
#include "lp/base/json.h"
#include "lp/config/bind.h"
#include "lp/config/config_yaml.h"
#include "lp/config/parse_flags.h"

namespace lp {

// Several programs of one binary. --program=NAME chooses one; the first is the default.
template <class Config>
using NamedPrograms = std::vector<std::pair<std::string, std::function<Program(const Config&)>>>;

// A report throws it when it has a result, and the run has failed nevertheless, for example since a file could not be
// written. The result is printed and kept as that of a success.
template <class Result>
class FailedReport : public Error {
 public:
  FailedReport(std::string text, Result reported)
      : Error(ErrorKind::failed, std::move(text)), result(std::move(reported)) {}

  Result result;
};

// Ends a report: returns its result, or throws it as a FailedReport with the text, if there is one.
template <class Result>
Result finish_report(Result result, const std::string& trouble) {
  if (!trouble.empty()) throw FailedReport<Result>(trouble, std::move(result));
  return result;
}

namespace launch {

// The result of a report: its fields, and their values as JSON.
using ReportFields = std::vector<std::pair<std::string, std::string>>;

// A program for lp::main without the types of its configuration and result.
struct MainProgram {
  std::vector<std::string> names{};  // the programs' names; the first is the default
  Programs programs{};
  Binding configuration{};
  HelpSections help{};  // empty: all fields in one section
  // refuses flags that say nothing to the others; empty: all are fine
  std::function<void(std::span<const std::string> given)> check_given{};
  // completes the configuration that was read; `resumed` is the directory of the run to resume, or empty
  std::function<void(const std::string& resumed)> prepare{};
  std::function<std::string()> to_yaml{};  // returns the configuration as text
  // Fills in the result, also when it throws FailedReport. Empty: there is no report.
  std::function<void(Run&, ReportFields&)> report{};
  const Engines* engines = nullptr;  // which --launch and the configuration may name
};
int run_main(int argc, char** argv, MainProgram& program);

template <class Result>
ReportFields fields_of(const Result& result) {
  static_assert(Aggregate<Result>, "lp: a report returns an aggregate, whose fields are the result, or nothing");
  ReportFields fields;
  for_each_field(result, [&](std::string_view name, const auto& field) { fields.emplace_back(name, to_json(field)); });
  return fields;
}

// A field of a configuration. Its name appears in the compiler's message.
template <auto name>
struct ConfigField {
  static constexpr bool kFree = std::ranges::none_of(
      LaunchFlags::fields, [](const FieldInfo& flag) { return flag.name == std::string_view(name.text); });
  static_assert(kFree,
                "lp: a field of this configuration has the name of a flag that every program has; see the name above, "
                "and give the field another");
};

template <class Config>
consteval bool configuration_is_fine() {
  if constexpr (!Aggregate<Config>) {
    static_assert(
        Aggregate<Config>,
        "lp: a configuration is an aggregate: a struct of fields with initializers, which has no constructor, "
        "no base class and nothing private");
    return false;
  } else {
    constexpr auto& names = field_names<Config>;
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (ConfigField<internal::Name<names[I].size()>(names[I])>::kFree && ...);
    }
    (std::make_index_sequence<names.size()>{});
  }
}
template <class Config, class Make>
consteval bool makes_program() {
  static_assert(std::is_invocable_r_v<Program, Make&, const Config&>,
                "lp: make_program is called with (const Config&), and returns an lp::Program");
  return std::is_invocable_r_v<Program, Make&, const Config&>;
}

template <class Config, class Report, class Prepare>
int run_main(int argc, char** argv, const NamedPrograms<Config>& programs, Report report, Prepare prepare,
             const Engines& engines) {
  Config config{};
  MainProgram program;
  program.engines = &engines;
  for (const auto& [name, make] : programs) {
    program.names.push_back(name);
    program.programs.add<Config>(name, make);
  }
  program.configuration = bind(config);
  if constexpr (requires(std::span<const std::string> given) { config.help_sections(given); }) {
    program.help = [&config](std::span<const std::string> given) { return config.help_sections(given); };
  }
  if constexpr (requires(std::span<const std::string> given) { config.check_given(given); }) {
    program.check_given = [&config](std::span<const std::string> given) { config.check_given(given); };
  }
  if constexpr (std::is_invocable_v<Prepare&, Config&, const std::string&>) {
    program.prepare = [&config, &prepare](const std::string& resumed) { prepare(config, resumed); };
  } else if constexpr (!std::is_same_v<Prepare, std::nullptr_t>) {
    program.prepare = [&config, &prepare](const std::string&) { prepare(config); };
  }
  program.to_yaml = [&config] { return to_yaml(config); };
  if constexpr (!std::is_same_v<Report, std::nullptr_t>) {
    static_assert(std::is_invocable_v<Report&, Run&, const Config&>,
                  "lp: a report is called with (lp::Run&, const Config&)");
    program.report = [&config, &report](Run& run, ReportFields& fields) {
      using Result = std::invoke_result_t<Report&, Run&, const Config&>;
      if constexpr (std::is_void_v<Result>) {
        report(run, std::as_const(config));
      } else {
        try {
          fields = fields_of(report(run, std::as_const(config)));
        } catch (const FailedReport<Result>& failed) {
          fields = fields_of(failed.result);
          throw;
        }
      }
    };
  }
  return run_main(argc, argv, program);
}

}  // namespace launch

template <class Config, class Make, class Report = std::nullptr_t, class Prepare = std::nullptr_t>
int main(int argc, char** argv, Make make_program, Report report = nullptr, Prepare prepare = nullptr,
         const launch::Engines& engines = launch::engines()) {
  if constexpr (launch::configuration_is_fine<Config>() && launch::makes_program<Config, Make>()) {
    return launch::run_main<Config>(argc, argv, {{"program", make_program}}, std::move(report), std::move(prepare),
                                    engines);
  }
}

template <class Config, class Report = std::nullptr_t>
int main(int argc, char** argv, const NamedPrograms<Config>& programs, Report report = nullptr,
         const launch::Engines& engines = launch::engines()) {
  if constexpr (launch::configuration_is_fine<Config>()) {
    return launch::run_main<Config>(argc, argv, programs, std::move(report), nullptr, engines);
  }
}

}  // namespace lp

#include "launchers/main.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "launchers/os/crash_handler.h"
#include "launchers/os/descriptor_limit.h"
#include "launchers/os/foreground_terminal.h"
#include "launchers/os/signals.h"
#include "launchers/plan/earlier_run.h"
#include "launchers/plan/launch.h"
#include "launchers/plan/launch_flags.h"
#include "launchers/record/records.h"
#include "launchers/record/run_directory.h"
#include "launchers/run/tmux.h"
#include "lp/base/error.h"
#include "lp/base/file.h"
#include "lp/base/text.h"
#include "lp/config/parse_flags.h"
#include "lp/draw/draw.h"
#include "lp/program/plan.h"

namespace lp::launch {
namespace {

constexpr int kNotStarted = 2;
constexpr int kFailed = 1;

// The output of --json when there is no result.
std::string failure_json(const std::string& reason, const std::string& cause) {
  JsonWriter json;
  json.begin_object();
  json.member("success", false);
  json.member("outcome", Ending::failed);
  json.member("reason", reason);
  json.member("cause", cause);
  json.end_object();
  return std::move(json).text() + "\n";
}

// While it lives, exit() called by a node, which is a thread of this process, counts as a failure of the program and
// not as its end.
class ExitGuard {
 public:
  // `output` is the descriptor for one line of JSON; below 0: none is wanted.
  explicit ExitGuard(int output) {
    json_output = output;
    std::atexit([] {
      if (!running) return;
      const std::string cause = "a node called exit(), which ends all nodes of its process";
      log_line("the program failed: " + cause);
      if (json_output >= 0) write_all(json_output, failure_json("a node called exit()", cause));
      _exit(kFailed);
    });
    running = true;
  }
  ~ExitGuard() { running = false; }
  ExitGuard(const ExitGuard&) = delete;
  ExitGuard& operator=(const ExitGuard&) = delete;

 private:
  static inline std::atomic<bool> running = false;  // atexit passes no argument
  static inline std::atomic<int> json_output = -1;
};

// If the program was started with one of these closed, its sockets would otherwise get their numbers. A result that is
// written to a closed standard output is lost, and must be noticed.
void open_standard_descriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (fcntl(fd, F_GETFD) < 0) open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_RDWR);
  }
}

// Reserves standard output for one line. Everything that is printed meanwhile goes to standard error.
class ReservedOutput {
 public:
  ReservedOutput() : saved_(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)) {
    std::fflush(stdout);
    dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  ~ReservedOutput() {
    std::cout.flush();
    std::fflush(stdout);
    dup2(saved_, STDOUT_FILENO);
    close(saved_);
  }
  int descriptor() const { return saved_; }
  ReservedOutput(const ReservedOutput&) = delete;
  ReservedOutput& operator=(const ReservedOutput&) = delete;

 private:
  int saved_;
};

struct Found {
  RunResult result{};
  ReportFields fields{};
  std::string launch{};
  double seconds = 0;
};

std::string report_json(const ReportFields& fields) {
  JsonWriter json;
  json.begin_object();
  for (const auto& [name, value] : fields) {
    json.key(name);
    json.json(value);
  }
  json.end_object();
  return std::move(json).text();
}

std::string result_json(const Found& outcome) {
  JsonWriter json;
  json.begin_object();
  bool has_launch = false;
  bool has_seconds = false;
  for (const auto& [name, value] : outcome.fields) {
    has_launch = has_launch || name == "launch";
    has_seconds = has_seconds || name == "seconds";
    json.key(name);
    json.json(value);
  }
  if (!has_launch) json.member("launch", outcome.launch);
  if (!has_seconds) json.member("seconds", outcome.seconds);
  const RunResult& result = outcome.result;
  json.member("success", result.success);
  json.member("outcome", result.ending());
  if (!result.success) json.member("reason", result.reason);
  if (result.ending() == Ending::stopped) json.member("stopped_by", result.stopped_by);
  if (result.ending() == Ending::failed) {
    json.member("failed_node", result.cause.node);
    json.member("cause", result.cause.what);
  }
  json.end_object();
  return std::move(json).text();
}

// Leaves out the fields that say nothing.
void print_table(const Found& outcome) {
  const auto says_nothing = [](const std::string& value) {
    return value == "null" || value == "\"\"" || value == "[]";
  };
  std::size_t width = 0;
  for (const auto& [name, value] : outcome.fields) width = std::max(width, name.size());
  for (const auto& [name, value] : outcome.fields) {
    if (says_nothing(value)) continue;
    const bool text = value.size() >= 2 && value.front() == '"';
    std::printf("%-*s  %s\n", static_cast<int>(width), name.c_str(),
                (text ? value.substr(1, value.size() - 2) : value).c_str());
  }
}

// The two builds of a program must be equal; otherwise its processes will not find each other.
void check_pure(const MainProgram& main, const Launch& launch) {
  const Program again = main.programs.build(launch.options.entry, launch.options.configuration);
  if (launch.program->fingerprint() == again.fingerprint()) return;
  throw Error(ErrorKind::failed,
              "make_program built two different graphs from one configuration: it must depend only on its "
              "configuration, not on time, random numbers or the environment");
}

// Waits for the end of `run`. The kernel delivers Ctrl-C to the main thread first, so this waits in a system call that
// ThreadSanitizer knows: ThreadSanitizer delays signals to a thread that waits for an Event.
const RunResult& wait_for_end(Run& run) {
  Poller poller;
  const Thread watcher = spawn("watcher", [&] {
    run.wait();
    poller.wake();
  });
  std::array<Poller::Ready, 1> none;
  while (!run.wait_for(Duration::zero())) poller.wait(none, kNever);
  return run.wait();
}

// Prints the result of the program. Returns the exit code.
int print_outcome(const Found& outcome, bool json) {
  if (json) {
    std::printf("%s\n", result_json(outcome).c_str());
  } else {
    print_table(outcome);
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    log_line("the result could not be written to standard output");
    return outcome.result.success ? kFailed : outcome.result.exit_code();
  }
  if (!outcome.result.success) {
    const RunResult& result = outcome.result;
    const bool stopped = result.ending() == Ending::stopped;
    log_line(stopped ? "the program was stopped " + stop_text(result.stopped_by, result.reason)
                     : "the program failed: " + result.cause.text());
  }
  return outcome.result.exit_code();
}

// Draws or prints the plan as the flags require, and starts nothing.
void show_plan(Launch& launch) {
  const LaunchFlags& flags = launch.flags;
  if (!flags.graph.empty()) {
    write_graph(launch.plan, flags.graph);
    log_line("the graph was drawn into " + flags.graph);
  }
  if (!flags.dry_run) return;
  launch.plan.hosts = planned_hosts(launch);
  std::printf("%s\n", (flags.json ? to_json(launch.plan) : to_text(launch.plan)).c_str());
}

// How and where nodes run is given anew, and may have been left out by mistake.
void compare_with_earlier(const Launch& launch) {
  const std::string& earlier = launch.flags.resume;
  if (earlier.empty()) return;
  const auto before = read_record<RunRecord>(std::filesystem::path(earlier) / "run.json");
  if (!before || before->launch.empty() || before->launch == launch.choice.text()) return;
  log_line("--launch is " + launch.choice.text() + ", but was " + before->launch + " in " + earlier);
}

// Runs the launch in this process, which coordinates it. Returns the exit code.
int run_here(const MainProgram& main, Launch launch) {
  const OwnJob* job = launch.engine().own_job();
  const bool begins = launch.flags.resume.empty() && (job == nullptr || !job->continues(launch.options.directory));
  if (begins && !launch.program->taken_over().empty()) check_taken_over(*launch.program, main.configuration);
  std::vector<std::unique_ptr<Reservation>> reserved;
  for (const Engine* engine : launch.choice.engines()) reserved.push_back(engine->reserve(launch));
  raise_descriptor_limit();
  install_crash_handler(launch.program->name(), WithoutMemory::exit);
  LateSignals late_signals;
  Found outcome;
  outcome.launch = launch.choice.text();
  bool advanced = false;  // the run has completed a cut of its own
  if (main.report) {
    launch.options.report = [&](Run& run) {
      const auto keep = [&] { run.keep_report(report_json(outcome.fields)); };
      try {
        main.report(run, outcome.fields);
      } catch (...) {
        if (!outcome.fields.empty()) keep();
        throw;
      }
      keep();
    };
  }
  {
    const LaunchFlags& flags = launch.flags;
    std::optional<ReservedOutput> output;
    if (flags.json) output.emplace();
    const ExitGuard guard(output.has_value() ? output->descriptor() : -1);
    const Time begin = now();
    const ForegroundTerminal terminal(!flags.debug.empty());
    Run run(launch);
    late_signals.ignore();
    if (!flags.directory.empty()) register_run(run.name(), run.directory());
    if (flags.terminal == TerminalView::tmux) open_panes(run.name(), run.directory(), run.processes());
    const std::uint64_t begin_cut = run.status().cut;
    outcome.result = wait_for_end(run);
    advanced = run.status().cut > begin_cut;
    outcome.seconds = to_seconds(now() - begin);
    const bool quiet = outcome.result.success && flags.output == Show::none;
    if (!quiet) log_line("the run directory is " + run.directory().string());
  }
  const int code = print_outcome(outcome, launch.flags.json);
  if (job != nullptr) job->finish(launch, outcome.result, advanced);
  return code;
}

// Calls f(). The run to resume may be of another program: then an error of `f` has the name of that program, too.
template <class F>
auto with_resumed(const std::filesystem::path& resumed, const char* binary, F f) {
  try {
    return f();
  } catch (const Error& error) {
    if (resumed.empty()) throw;
    throw Error(error.kind(), about_resumed(resumed, binary, error.text()), error.origin());
  }
}

int run_program(MainProgram& main, const LaunchFlags& flags, const CommandLine& line, const char* binary) {
  const std::string entry = flags.program.empty() ? main.names.front() : flags.program;
  // Where the program is launched again, it is prepared there.
  if (main.prepare && !main.engines->of(flags.launch).submits()) {
    with_resumed(flags.resume, binary, [&] { main.prepare(flags.resume); });
  }
  const std::string configuration = main.to_yaml();
  Program program = with_resumed(flags.resume, binary, [&] { return main.programs.build(entry, configuration); });
  if (!flags.resume.empty()) check_resumed(program.name(), flags.resume);
  LaunchOptions options = options_of(flags, *main.engines, program.name());
  options.entry = entry;
  options.configuration = configuration;
  options.placements = line.groups;
  Launch launch(std::move(program), std::move(options), flags, line.given);
  if (flags.dry_run || !flags.graph.empty()) {
    check_pure(main, launch);
    show_plan(launch);
    return 0;
  }
  compare_with_earlier(launch);
  if (const auto code = launch.engine().submit(launch)) return *code;
  return run_here(main, std::move(launch));
}

void check_given(const MainProgram& main, const CommandLine& line) {
  if (!main.check_given) return;
  try {
    main.check_given(line.given);
  } catch (const Error& error) {
    throw Error(error.kind(), with_place(line, error.text()), error.origin());
  }
}

}  // namespace

int run_main(int argc, char** argv, MainProgram& main) {
  open_standard_descriptors();
  const std::span arguments(argv, static_cast<std::size_t>(argc));
  const bool as_json = std::any_of(arguments.begin(), arguments.end(),
                                   [](const char* one) { return std::string_view(one) == "--json"; });
  std::string cause;
  try {
    if (const auto code = become_node_if_asked(argc, argv, main.programs)) return *code;
    LaunchFlags flags;
    std::filesystem::path resumed;
    const auto find_earlier = [&]() -> std::optional<EarlierValues> {
      if (flags.resume.empty()) return std::nullopt;
      resumed = earlier_run(flags.resume);
      return configuration_of(resumed);
    };
    const std::vector<std::string_view> launchers = main.engines->names();
    const internal::FieldType launcher = internal::one_of(launchers);
    Binding own = bind(flags);
    own.replace_type("launch", launcher);
    const char* const binary = argc > 0 ? argv[0] : "";
    const CommandLine line = with_resumed(
        resumed, binary, [&] { return parse(argc, argv, main.configuration, own, main.help, find_earlier); });
    if (!line.help.empty()) {
      std::printf("%s", line.help.c_str());
      if (main.names.size() > 1) std::printf("\nprograms: %s\n", join(main.names, ", ").c_str());
      return 0;
    }
    check_words(arguments);
    check_given(main, line);
    flags.resume = resumed.string();
    for (const std::string& change : line.changes) log_line(change + " in " + flags.resume);
    return run_program(main, flags, line, binary);
  } catch (const std::exception& error) {
    cause = error.what();
  } catch (...) {
    cause = as_error(std::current_exception()).what();
  }
  std::fflush(stdout);
  std::fprintf(stderr, "%s: %s\n", argc > 0 ? argv[0] : "lp", cause.c_str());
  if (as_json) {
    std::printf("%s", failure_json("it could not be started", cause).c_str());
    std::fflush(stdout);
  }
  return kNotStarted;
}

}  // namespace lp::launch

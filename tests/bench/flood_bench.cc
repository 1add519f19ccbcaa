// flood_bench [--callers=N] [--seconds=N] [--mebibytes=N] [--quick] [shm|tcp|curve...]: callers send large arrays as
// fast as they can to a service that takes 10 ms for each, one way and with replies that nobody waits for, through
// shared memory, TCP and CURVE, or through the paths that the command line names. It prints a table on standard error
// and JSON on standard output: the most memory that all processes had together, the calls per second that the service
// handled for one caller that waits for each reply and for all callers that do not, and the median time of small calls
// to another service before and meanwhile. It ends with 1 when the memory is more than 2 GB, and when a run fails.

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "launchers/programs.h"
#include "launchers/run.h"
#include "lp/base/error.h"
#include "lp/base/json.h"
#include "lp/config/config_yaml.h"
#include "lp/lp.h"

using namespace lp::literals;

namespace {

constexpr auto kHandling = std::chrono::milliseconds(10);
constexpr lp::Duration kLongestBefore = std::chrono::seconds(2);  // for each of the two measurements before the flood
constexpr double kMostMemory = 2e9;                               // bytes
using Bytes = lp::Array<std::byte>;

struct Config {
  int callers = 32;
  int seconds = 600;
  int mebibytes = 32;
  bool one_way = true;
  static constexpr auto fields =
      lp::fields(lp::field("callers", "how many send"), lp::field("seconds", "of each case"),
                 lp::field("mebibytes", "of an array"), lp::field("one_way", "or with replies"));
};

class Slow {
 public:
  void take(Bytes) {
    lp::Event().wait(lp::after(kHandling));
    ++handled_;
  }
  std::uint64_t handled() const { return handled_; }
  using Remote = lp::Methods<lp::deadline<&Slow::take, 600_s>, lp::concurrent<&Slow::handled, 1>>;

 private:
  std::atomic<std::uint64_t> handled_ = 0;
};

class Quick {
 public:
  int ping(int number) { return number; }
  lp::Future<void> started() {
    waiting_.emplace_back();
    return waiting_.back().future();
  }
  void start() {
    for (lp::Promise<void>& one : waiting_) one.set_value();
    waiting_.clear();
  }
  using Remote = lp::Methods<&Quick::ping, lp::deadline<&Quick::started, 600_s>, &Quick::start>;

 private:
  std::vector<lp::Promise<void>> waiting_;
};

class Caller {
 public:
  Caller(lp::Client<Slow> slow, lp::Client<Quick> quick, const Config& config)
      : slow_(slow), quick_(quick), config_(config) {}
  void run(lp::Context& context) {
    quick_.call<&Quick::started>();
    std::vector<lp::Future<void>> replies;
    while (!context.stopping()) {
      Bytes bytes(static_cast<std::size_t>(config_.mebibytes) << 20);
      if (config_.one_way) {
        slow_.send<&Slow::take>(std::move(bytes));
      } else {
        replies.push_back(slow_.async<&Slow::take>(std::move(bytes)));
        std::erase_if(replies, [](const lp::Future<void>& reply) { return reply.ready(); });
      }
    }
  }

 private:
  lp::Client<Slow> slow_;
  lp::Client<Quick> quick_;
  const Config config_;
};

const lp::Handle<Slow> kSlow("slow");
const lp::Handle<Quick> kQuick("quick");

lp::Program make_program(const Config& config) {
  lp::Program program("flood");
  const auto slow = program.add<Slow>({.name = "slow"});
  const auto quick = program.add<Quick>({.name = "quick"});
  program.group<Caller>({.name = "caller", .replicas = config.callers}, slow, quick, config);
  return program;
}

// Bytes of this process and those that it has started; shared memory counts once.
double memory_of_all() {
  namespace fs = std::filesystem;
  double bytes = 0;
  std::set<ino_t> shared;
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe");
  for (const auto& process : fs::directory_iterator("/proc")) {
    if (fs::read_symlink(process.path() / "exe", error) != self) continue;
    std::ifstream status(process.path() / "status");
    for (std::string word; status >> word;) {
      double kibibytes = 0;
      if (word == "RssAnon:" && status >> kibibytes) bytes += kibibytes * 1024;
    }
    for (fs::directory_iterator file(process.path() / "fd", error), end; !error && file != end; file.increment(error)) {
      struct stat memory {};
      if (fs::read_symlink(file->path(), error).native().starts_with("/memfd:") &&
          stat(file->path().c_str(), &memory) == 0 && shared.insert(memory.st_ino).second) {
        bytes += static_cast<double>(memory.st_blocks) * 512;
      }
    }
  }
  return bytes;
}

// The median time of calls until `end`, in seconds; `between` runs after each.
template <class F>
double median_ping(const lp::Client<Quick>& quick, lp::Time end, F between) {
  std::vector<double> took;
  while (!lp::passed(end)) {
    const lp::Time begin = lp::now();
    quick.call<&Quick::ping>(1);
    took.push_back(lp::to_seconds(lp::now() - begin));
    between();
    lp::Event().wait(lp::after(std::chrono::milliseconds(20)));
  }
  std::nth_element(took.begin(), took.begin() + static_cast<std::ptrdiff_t>(took.size() / 2), took.end());
  return took.at(took.size() / 2);
}

struct Case {
  const char* name;
  lp::Path way;
  bool curve;
};

struct Figures {
  std::string path{};
  std::string calls{};
  double bytes = 0;          // the most that all processes had together
  double alone = 0;          // calls per second for one caller that waits
  double handled = 0;        // calls per second meanwhile
  double quiet_seconds = 0;  // median of a small call
  double busy_seconds = 0;
};
struct Result {
  std::string benchmark = "flood";
  int callers = 0;
  int mebibytes = 0;
  int seconds = 0;
  std::vector<Figures> cases{};
};

Figures measure(lp::Run& run, const Case& which, const Config& config) {
  Figures out{.path = which.name, .calls = config.one_way ? "send" : "async"};
  if (!run.wait_ready(std::chrono::minutes(5))) lp::throw_failed("the nodes were not ready within 5 minutes");
  const lp::Duration before = std::min(kLongestBefore, lp::Duration(std::chrono::seconds(config.seconds)) / 4);
  const auto quick = run.client(kQuick);
  out.quiet_seconds = median_ping(quick, lp::after(before), [] {});
  const auto slow = run.client(kSlow);
  const lp::Time end = lp::after(before);
  const auto size = static_cast<std::size_t>(config.mebibytes) << 20;
  while (!lp::passed(end)) slow.call<&Slow::take>(Bytes(size));
  const auto alone = static_cast<double>(slow.call<&Slow::handled>());
  out.alone = alone / lp::to_seconds(before + (lp::now() - end));
  quick.call<&Quick::start>();
  const lp::Time begin = lp::now();
  lp::Time measured = begin;
  out.busy_seconds = median_ping(quick, lp::after(std::chrono::seconds(config.seconds)), [&] {
    if (lp::now() - measured < std::chrono::milliseconds(200)) return;
    out.bytes = std::max(out.bytes, memory_of_all());
    measured = lp::now();
  });
  const auto handled = static_cast<double>(slow.call<&Slow::handled>()) - alone;
  out.handled = handled / lp::to_seconds(lp::now() - begin);
  return out;
}

// Throws the first cause of a run that fails, and not what became of the calls to it.
Figures measure(const Case& which, const Config& config) {
  lp::Run run(make_program(config), {.launch = lp::LaunchType::processes,
                                     .entry = "flood",
                                     .configuration = lp::to_yaml(config),
                                     .path = which.way,
                                     .curve = which.curve});
  Figures out;
  std::string fault;
  try {
    out = measure(run, which, config);
  } catch (const lp::Error& error) {
    fault = error.what();
  }
  run.stop("measured");
  if (const lp::RunResult& result = run.wait(); result.ending() == lp::Ending::failed) fault = result.cause.text();
  if (!fault.empty()) lp::throw_failed(fault);
  return out;
}

bool read_flag(std::string_view argument, std::string_view name, int& value) {
  if (!argument.starts_with(name)) return false;
  argument.remove_prefix(name.size());
  return std::from_chars(argument.data(), argument.data() + argument.size(), value).ec == std::errc();
}

}  // namespace

int main(int argc, char** argv) {
  const lp::Programs programs = lp::Programs().add<Config>("flood", make_program);
  if (const auto code = lp::become_node_if_asked(argc, argv, programs)) return *code;
  Config config;
  std::set<std::string_view> named;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--quick") {
      config.callers = 4;
      config.seconds = 1;
      config.mebibytes = 8;
    } else if (argument == "shm" || argument == "tcp" || argument == "curve") {
      named.insert(argument);
    } else if (argument != "--json" && !read_flag(argument, "--callers=", config.callers) &&
               !read_flag(argument, "--seconds=", config.seconds) &&
               !read_flag(argument, "--mebibytes=", config.mebibytes)) {
      std::fprintf(stderr, "flood_bench [--callers=N] [--seconds=N] [--mebibytes=N] [--quick] [shm|tcp|curve...]\n");
      return 2;
    }
  }
  std::fprintf(stderr, "%d callers, %d MiB each, %d s\n%-6s %-6s %10s %13s %12s %14s %14s\n", config.callers,
               config.mebibytes, config.seconds, "path", "calls", "memory, MB", "alone, 1/s", "flooded, 1/s",
               "quiet ping us", "busy ping us");
  bool fine = true;
  Result result{.callers = config.callers, .mebibytes = config.mebibytes, .seconds = config.seconds};
  for (const Case& which :
       {Case{"shm", lp::Path::shm, false}, Case{"tcp", lp::Path::tcp, false}, Case{"curve", lp::Path::tcp, true}}) {
    if (!named.empty() && !named.contains(which.name)) continue;
    for (const bool one_way : {true, false}) {
      config.one_way = one_way;
      Figures figures;
      try {
        figures = measure(which, config);
      } catch (const lp::Error& error) {
        std::fprintf(stderr, "%-6s %-6s failed: %s\n", which.name, one_way ? "send" : "async", error.what());
        fine = false;
        continue;
      }
      std::fprintf(stderr, "%-6s %-6s %10.0f %13.1f %12.1f %14.0f %14.0f\n", figures.path.c_str(),
                   figures.calls.c_str(), figures.bytes / 1e6, figures.alone, figures.handled,
                   1e6 * figures.quiet_seconds, 1e6 * figures.busy_seconds);
      fine = fine && figures.bytes <= kMostMemory;
      result.cases.push_back(figures);
    }
  }
  std::printf("%s\n", lp::to_json(result).c_str());
  return fine ? 0 : 1;
}

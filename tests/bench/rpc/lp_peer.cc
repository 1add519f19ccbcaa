#include "tests/bench/rpc/lp_peer.h"

#include <unistd.h>

#include <cstdlib>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "launchers/admin/admin_client.h"
#include "launchers/run.h"
#include "lp/base/error.h"
#include "lp/lp.h"

namespace lp::bench {
namespace {

constexpr const char* kProgram = "rpc_bench";
constexpr auto kPatience = std::chrono::minutes(1);

class Echo {
 public:
  Message answer(Message call) {
    if (call.data.empty()) call.data = bulk();
    return call;
  }
  void publish() { published.publish(bulk()); }
  Published<Array<std::uint8_t>> published;
  using Remote = Methods<&Echo::answer, &Echo::publish, &Echo::published>;
};

class LpCaller final : public Caller {
 public:
  explicit LpCaller(Client<Echo> echo) : echo_(echo) {}
  void send(const Message& request) override { futures_.push_back(echo_.async<&Echo::answer>(request)); }
  Reply receive(std::span<std::uint8_t>) override {
    reply_ = futures_.front().get();
    futures_.pop_front();
    return {.number = reply_.number, .data = reply_.data.span()};
  }
  Reply round_trip(const Message& request, std::span<std::uint8_t>) override {
    reply_ = echo_.call<&Echo::answer>(request);
    return {.number = reply_.number, .data = reply_.data.span()};
  }
  std::span<const std::uint8_t> read() override {
    if (version_.number() == 0) echo_.call<&Echo::publish>();
    version_ = {};  // a holder of the old version only learns that it is the latest
    version_ = echo_.read<&Echo::published>();
    return version_->span();
  }

 private:
  Version<Array<std::uint8_t>> version_;
  Client<Echo> echo_;
  std::deque<Future<Message>> futures_;
  Message reply_;
};

class Driver {
 public:
  explicit Driver(const Clients<Echo>& echoes) {
    for (std::size_t i = 0; i < echoes.size(); ++i) callers_.push_back(std::make_unique<LpCaller>(echoes[i]));
  }
  Figures work(const Work& work) { return measure(work, callers_); }
  using Remote = Methods<deadline<&Driver::work, 60_s>>;

 private:
  std::vector<std::unique_ptr<Caller>> callers_;
};

Program make_program(const Size& size) {
  Program program(kProgram);
  const auto echoes = program.group<Echo>({.name = "echo", .replicas = size.services});
  program.group<Driver>({.name = "driver", .replicas = size.callers}, echoes);
  return program;
}

// Sets the path that processes use, if the launch options have one.
template <class Options>
constexpr bool kHasPath = requires(Options options) {
  decltype(options.path)::shm;
};

// The directory of a run, which a user's run has, too; until the run has ended.
class RunDirectory {
 public:
  RunDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "rpc_bench-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw Error(ErrorKind::failed, "there can be no directory like " + name);
    path_ = name;
  }
  ~RunDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Collects the spans of a run while it lives.
class Tracing {
 public:
  explicit Tracing(const std::filesystem::path& directory)
      : client_(directory), thread_(spawn("tracing", [this] { collect(); })) {}
  ~Tracing() { stop_.set(); }
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;

 private:
  void collect() {
    do {
      client_.ask(R"({"ask":"spans","share":1,"bounded":true})", after(kPatience));
      client_.next(after(kPatience));
    } while (!stop_.wait(after(std::chrono::milliseconds(500))));
  }

  launch::AdminClient client_;
  Event stop_;
  Thread thread_;  // last: it uses the others
};

template <class Options>
Options options_of(Path path, Size size, const RunDirectory& directory) {
  Options options{.launch = path == Path::direct ? LaunchType::threads : LaunchType::processes,
                  .entry = kProgram,
                  .configuration = to_yaml(size)};
  options.directory = directory.path();
  if constexpr (kHasPath<Options>) {
    using Paths = decltype(options.path);
    if (path != Path::direct) options.path = path == Path::shm ? Paths::shm : Paths::tcp;
    options.curve = path == Path::curve;
  }
  return options;
}

class LpSession final : public Session {
 public:
  LpSession(Path path, Size size, bool traced)
      : traced_(traced), run_(make_program(size), options_of<LaunchOptions>(path, size, directory_)) {
    if (run_.wait_ready(kPatience)) return;
    run_.kill();
    throw Error(ErrorKind::failed, "the program did not start: " + run_.wait().cause.text());
  }

  std::vector<Figures> measure(const Work& work, int callers) override {
    std::optional<Tracing> tracing;
    if (traced_) tracing.emplace(directory_.path());
    std::vector<Future<Figures>> futures;
    for (int i = 0; i < callers; ++i) {
      const Client<Driver> driver = run_.client(Handle<Driver>("driver/" + std::to_string(i)));
      futures.push_back(driver.async<&Driver::work>(work));
    }
    return when_all(std::move(futures)).get();
  }

  std::vector<int> services() const override { return pids("echo/"); }
  std::vector<int> callers() const override { return pids("driver/"); }

 private:
  std::vector<int> pids(std::string_view group) const {
    std::vector<int> result;
    for (const NodeStatus& node : run_.status().nodes) {
      if (node.name.starts_with(group)) result.push_back(node.pid == 0 ? getpid() : node.pid);
    }
    return result;
  }
  const bool traced_;
  const RunDirectory directory_{};
  Run run_;
};

}  // namespace

bool has_shared_memory() { return kHasPath<LaunchOptions>; }

void add_program(Programs& programs) { programs.add<Size>(kProgram, make_program); }

std::unique_ptr<Session> start_lp(Path path, Size size, bool traced) {
  return std::make_unique<LpSession>(path, size, traced);
}

}  // namespace lp::bench

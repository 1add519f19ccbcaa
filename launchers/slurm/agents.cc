#include "launchers/slurm/agents.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "launchers/agent/agent.h"
#include "launchers/control/process_roles.h"
#include "launchers/os/executable.h"
#include "launchers/os/shell_quote.h"
#include "launchers/os/spawn.h"
#include "launchers/remote/agent_acceptor.h"
#include "launchers/remote/agent_dialer.h"
#include "launchers/slurm/batch_script.h"
#include "launchers/slurm/job.h"
#include "lp/base/error.h"
#include "lp/base/message.h"

namespace lp::internal {
namespace {

constexpr auto kTimeToEnd = std::chrono::seconds(2);        // of srun, when all agents have that can be reached
constexpr std::string_view kEnded = "lp-agent: ended on ";  // and the node, as a line
constexpr std::string_view kReady = "lp-agent: ready";
constexpr std::string_view kNoProgram = "lp-agent: there is no program on ";  // the same
constexpr std::size_t kLongestLine = std::size_t{1} << 16;                    // of what tasks print
constexpr const char* kNodeVariable = "SLURMD_NODENAME";                      // outside of an allocation there is none

// Slurm lets a job with --no-kill go on when its first node has failed, without a coordinator. A task whose agent was
// forsaken by its launcher looks whether that is so; then it ends the job, or has it begin again, as the job may. When
// it has begun again elsewhere, there is nothing left to watch. It gives up when no Slurm has answered for an hour.
constexpr const char* kWatch = R"sh(unheard=0
while sleep 5; do
  state=$(squeue -h -j $job -o %T) && there=$(squeue -h -j $job -w $first -o %T) && shown=$(scontrol show job $job) || {
    unheard=$((unheard + 1))
    test $unheard -lt 720 && continue
    exit 1
  }
  unheard=0
  test "$state" || exit 0
  case $shown in
    *" Restarts=${SLURM_RESTART_COUNT:-0} "*) ;;
    *) exit 0 ;;
  esac
  test "$there" && continue
  case $shown in
    *Requeue=1*) scontrol requeue $job ;;
    *) scancel $job ;;
  esac
done
)sh";

// By which address of this one the other hosts find it.
std::string address_for(const std::vector<HostSpec>& hosts) {
  const std::string here = slurm_variable(kNodeVariable);
  const auto other =
      std::find_if(hosts.begin(), hosts.end(), [&](const auto& host) { return slurm_node(host) != here; });
  const HostSpec& host = other == hosts.end() ? hosts.front() : *other;
  std::string address = address_towards(host.address);
  if (!address.empty()) return address;
  throw Error(ErrorKind::failed,
              "there is no way from this host to " + host.name + ", whose address is " + quote(host.address));
}

std::vector<CurveKeys> make_keys(std::size_t count) {
  std::vector<CurveKeys> keys;
  while (keys.size() < count) keys.push_back(make_curve_keys());
  return keys;
}

std::vector<std::string> public_keys(const std::vector<CurveKeys>& keys) {
  std::vector<std::string> all;
  for (const CurveKeys& one : keys) all.push_back(one.public_key);
  return all;
}

// What each task does: finds the program, or takes it if it may, and has it be the agent of its node, which takes its
// keys from standard input.
std::string task_script(const OwnBinary& binary, bool may_take, std::size_t key_bytes, const std::string& endpoint,
                        const std::string& run) {
  const std::string say_so = "head -c " + std::to_string(key_bytes) + " >/dev/null; echo \"" + std::string(kNoProgram) +
                             "$" + kNodeVariable + "\"; exit 0";
  std::ostringstream script;
  script << "trap 'test $? = 0 || echo \"" << kEnded << "$" << kNodeVariable << "\"; exit 0' EXIT\n"
         << binary.find(may_take ? binary.take() : say_so) << "\n"
         << (may_take ? "echo '" + std::string(kReady) + "'\n" : "")  // for the keys
         << kCoordinatorVariable << "=" << shell_word(endpoint) << " " << kKeysVariable << "=" << kKeysFromInput
         << " \"$p\" " << kDialFlag << shell_word(run) << "@$" << kNodeVariable << "\n";
  if (const std::string first = slurm_variable(kNodeVariable); !first.empty()) {
    script << "code=$?\ntest $code = " << kForsaken << " || exit $code\n"
           << "first=" << shell_word(first) << "\njob=" << own_job() << "\n"
           << kWatch;
  }
  return script.str();
}

// One srun, and what its tasks are sent.
class Srun {
 public:
  // `may_take`: it is for one node, which may take the binary first, and then says that it is ready for `keys`.
  Srun(const std::vector<std::string>& command, std::string keys, const OwnBinary& binary, bool may_take)
      : binary_(binary), keys_(std::move(keys)), sends_keys_(!may_take) {
    const SocketPair ends = make_socket_pair();
    connection_ = Descriptor(ends.ours);
    fcntl(ends.ours, F_SETFL, O_NONBLOCK);
    const Descriptor theirs(ends.theirs);
    process_ = spawn_command(command, theirs.number(), STDERR_FILENO);
  }
  ~Srun() {
    connection_ = Descriptor();
    end_child(process_, kTimeToEnd);
  }
  Srun(const Srun&) = delete;
  Srun& operator=(const Srun&) = delete;

  int fd() const { return connection_.number(); }
  bool wants_to_write() const { return sends_binary_ || sends_keys_; }

  // Does what can be done now. False when srun has ended.
  bool advance() {
    std::array<char, 4096> bytes;
    for (;;) {
      const ssize_t got = recv(fd(), bytes.data(), bytes.size(), 0);
      if (got == 0) return false;
      if (got < 0) break;
      for (const char one : std::string_view(bytes.data(), static_cast<std::size_t>(got))) take(one);
    }
    if (sends_binary_) sends_binary_ = !binary_.send(fd(), binary_sent_);
    if (sends_keys_) send_keys();
    return true;
  }

  // The nodes that have no program, once.
  std::vector<std::string> take_without_program() { return std::exchange(without_program_, {}); }
  // One whose agent has ended; empty: none has.
  const std::string& lost() const { return lost_; }

 private:
  void send_keys() {
    const ssize_t taken = send(fd(), keys_.data() + keys_sent_, keys_.size() - keys_sent_, MSG_NOSIGNAL);
    if (taken > 0) keys_sent_ += static_cast<std::size_t>(taken);
    sends_keys_ = keys_sent_ < keys_.size();
  }

  void take(char one) {
    if (one != '\n') {
      if (line_.size() < kLongestLine) line_ += one;
      return;
    }
    if (line_ == OwnBinary::kWanted) sends_binary_ = true;
    if (line_ == kReady) sends_keys_ = true;
    if (line_.starts_with(kNoProgram)) without_program_.push_back(line_.substr(kNoProgram.size()));
    if (line_.starts_with(kEnded)) lost_ = line_.substr(kEnded.size());
    line_.clear();
  }

  const OwnBinary& binary_;
  const std::string keys_;  // a line for each node, and an empty one
  bool sends_keys_;
  std::size_t keys_sent_ = 0;
  bool sends_binary_ = false;
  std::size_t binary_sent_ = 0;
  Descriptor connection_;  // its standard input and output
  pid_t process_ = -1;
  std::string line_;
  std::vector<std::string> without_program_;
  std::string lost_;
};

}  // namespace

struct SlurmStep::State {
  State(const std::vector<HostSpec>& the_hosts, const RemoteOptions& the_options)
      : hosts(the_hosts),
        options(the_options),
        agent_keys(make_keys(hosts.size())),
        agents(hosts.size()),
        missing(hosts.size()),
        reception({.address = address_for(hosts),
                   .keys = keys,
                   .agents = public_keys(agent_keys),
                   .lease = std::chrono::ceil<std::chrono::seconds>(options.lease)},
                  [this](std::size_t host, Descriptor stream) { arrive(host, std::move(stream)); }) {}
  ~State() {
    reception.finish();
    agents.clear();
  }

  // An agent on its way.
  struct Agent {
    std::unique_ptr<ControlSocket> control{};
    std::optional<HostCapacity> capacity{};  // it is there
    std::size_t srun = 0;                    // that starts it
  };

  void start_all();
  void start_with_program(const std::string& node, std::size_t before);
  void start(const std::vector<std::size_t>& there, bool may_take);
  void await();
  void arrive(std::size_t host, Descriptor stream);
  void greet();
  void hear(std::size_t host);
  void hear_srun(std::size_t srun);
  [[noreturn]] void fail(const std::string& why) const;

  const std::vector<HostSpec> hosts;
  const RemoteOptions options;
  const OwnBinary binary;
  const CurveKeys keys = make_curve_keys();
  const std::vector<CurveKeys> agent_keys;  // by host, as the agents
  std::vector<Agent> agents;
  std::size_t missing;
  std::vector<std::unique_ptr<Srun>> sruns;
  Poller poller;
  std::mutex mutex;
  std::vector<std::pair<std::size_t, Descriptor>> arrivals;
  bool all_there = false;
  Reception reception;  // first to go: its thread uses the above, and srun waits for agents
};

void SlurmStep::State::start_all() {
  std::vector<std::vector<std::size_t>> components(hosts.back().component + 1);
  for (std::size_t host = 0; host < hosts.size(); ++host) components[hosts[host].component].push_back(host);
  for (const auto& there : components) start(there, /*may_take=*/false);
}

// srun sends the same to all its tasks, and waits for each that does not take it, so this has one of its own.
// `before`: the one that has found none there.
void SlurmStep::State::start_with_program(const std::string& node, std::size_t before) {
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    if (agents[host].srun == before && slurm_node(hosts[host]) == node) return start({host}, /*may_take=*/true);
  }
}

// Has srun start agents on these hosts, of one component. `may_take`: on one host, which may be sent the program.
void SlurmStep::State::start(const std::vector<std::size_t>& there, bool may_take) {
  std::string lines;
  std::vector<std::string> nodes;
  for (const std::size_t host : there) {
    nodes.push_back(slurm_node(hosts[host]));
    lines += to_text(HostKeys{.host = nodes.back(),
                              .name = hosts[host].name,
                              .keys = {.own = agent_keys[host], .others = {keys.public_key}}});
    agents[host].srun = sruns.size();
  }
  lines += "\n";
  const std::string count = std::to_string(nodes.size());
  std::vector<std::string> command{"srun",
                                   "--overlap",
                                   "--nodes=" + count,
                                   "--ntasks=" + count,
                                   "--ntasks-per-node=1",
                                   "--nodelist=" + join(nodes, ","),
                                   "--mem=0",
                                   "--cpu-bind=none",
                                   "--kill-on-bad-exit=0",
                                   "--no-kill",
                                   "--quiet",
                                   "--input=all",
                                   "--mpi=none"};
  if (!slurm_variable("SLURM_HET_SIZE").empty()) {
    command.push_back("--het-group=" + std::to_string(hosts[there.front()].component));
  }
  command.insert(command.end(),
                 {"/bin/sh", "-c", task_script(binary, may_take, lines.size(), reception.endpoint(), options.mark)});
  sruns.push_back(std::make_unique<Srun>(command, std::move(lines), binary, may_take));
  poller.add(sruns.back()->fd(), hosts.size() + sruns.size() - 1, /*writable=*/true);
}

// Until there is an agent on every host.
void SlurmStep::State::await() {
  const Time deadline = after(options.patience);
  std::array<Poller::Ready, 64> ready;
  while (missing > 0) {
    greet();
    const std::size_t count = poller.wait(ready, deadline);
    if (count == 0 && passed(deadline)) fail("no agent was there in time");
    for (std::size_t i = 0; i < count; ++i) {
      if (ready[i].tag < hosts.size()) {
        hear(ready[i].tag);
      } else {
        hear_srun(ready[i].tag - hosts.size());
      }
    }
  }
  const std::lock_guard lock(mutex);
  all_there = true;
  arrivals.clear();
}

void SlurmStep::State::hear_srun(std::size_t index) {
  Srun& srun = *sruns[index];
  const bool goes_on = srun.advance();
  if (!srun.lost().empty()) fail("the agent on " + srun.lost() + " could not be started");
  for (const std::string& node : srun.take_without_program()) start_with_program(node, index);
  if (goes_on) return poller.change(srun.fd(), hosts.size() + index, srun.wants_to_write());
  poller.remove(srun.fd());
  for (const Agent& agent : agents) {
    if (agent.srun == index && !agent.capacity.has_value()) fail("srun has ended before there was an agent");
  }
}

// In the thread of the reception. An agent that dials once more, when all were there, is not wanted.
void SlurmStep::State::arrive(std::size_t host, Descriptor stream) {
  const std::lock_guard lock(mutex);
  if (all_there) return;
  arrivals.emplace_back(host, std::move(stream));
  poller.wake();
}

void SlurmStep::State::greet() {
  std::vector<std::pair<std::size_t, Descriptor>> came;
  {
    const std::lock_guard lock(mutex);
    came.swap(arrivals);
  }
  for (auto& [host, stream] : came) {
    if (agents[host].capacity.has_value()) continue;
    if (agents[host].control != nullptr) poller.remove(agents[host].control->fd());
    agents[host].control = std::make_unique<ControlSocket>(stream.release(), kSmallMessages);
    poller.add(agents[host].control->fd(), host);
  }
}

void SlurmStep::State::hear(std::size_t host) {
  Agent& agent = agents[host];
  std::string fault;
  const bool open =
      agent.control->receive([&](auto greeting) { agent.capacity = capacity_of(hosts[host], greeting); }, fault);
  if (!agent.capacity.has_value() && open) return;  // a part of it
  poller.remove(agent.control->fd());
  if (agent.capacity.has_value()) {
    --missing;
  } else {
    agent.control.reset();  // its task says so, too
  }
}

void SlurmStep::State::fail(const std::string& why) const {
  std::string names;
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    if (!agents[host].capacity.has_value()) names += (names.empty() ? "" : ", ") + hosts[host].name;
  }
  throw Error(ErrorKind::failed, "not every host can be used: " + why + " (there is none on " + names + ")");
}

SlurmStep::SlurmStep(const std::vector<HostSpec>& hosts, const RemoteOptions& options)
    : state_(std::make_unique<State>(hosts, options)) {
  state_->start_all();
  state_->await();
}

SlurmStep::~SlurmStep() = default;

std::vector<RemoteAgent> SlurmStep::take_agents() {
  std::vector<RemoteAgent> taken;
  for (std::size_t host = 0; host < state_->hosts.size(); ++host) {
    State::Agent& agent = state_->agents[host];
    taken.push_back(
        {.link = std::make_unique<AgentLink>(AgentLink::Options{
             .host = state_->hosts[host].name, .control = std::move(agent.control), .lease = state_->options.lease}),
         .capacity = std::move(*agent.capacity)});
  }
  return taken;
}

void SlurmStep::finish() { state_->reception.finish(); }

}  // namespace lp::internal

#include "launchers/engines/slurm/agents.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "launchers/agent/agent.h"
#include "launchers/control/process_roles.h"
#include "launchers/engines/slurm/batch_script.h"
#include "launchers/engines/slurm/job.h"
#include "launchers/os/executable.h"
#include "launchers/os/shell_quote.h"
#include "launchers/os/spawn.h"
#include "launchers/remote/agent_acceptor.h"
#include "launchers/remote/agent_dialer.h"
#include "lp/base/error.h"
#include "lp/base/text.h"

namespace lp::launch {
namespace {

constexpr auto kSrunEndTimeout = std::chrono::seconds(2);   // for srun, when all reachable agents have ended
constexpr std::string_view kEnded = "lp-agent: ended on ";  // the node's name follows on the same line
constexpr std::string_view kTaskReady = "lp-agent: ready";
constexpr std::string_view kNoProgram = "lp-agent: there is no program on ";  // the node's name follows here, too
constexpr std::size_t kLongestLine = std::size_t{1} << 16;                    // the limit for the tasks' output
constexpr const char* kNodeVariable = "SLURMD_NODENAME";                      // not set outside of an allocation

// With --no-kill, Slurm lets a job continue without a coordinator when its first node has failed. A task whose agent
// lost its launcher checks whether that is so. Then it ends the job, or makes it begin again if the job may. When the
// job has begun again elsewhere, nothing is left to watch. The task gives up when Slurm has not answered for an hour.
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

// The address of this host at which the other hosts reach it.
std::string address_for(const std::vector<HostSpec>& hosts) {
  const std::string here = slurm_variable(kNodeVariable);
  const auto other =
      std::find_if(hosts.begin(), hosts.end(), [&](const auto& host) { return slurm_node(host) != here; });
  const HostSpec& host = other == hosts.end() ? hosts.front() : *other;
  std::string address = address_towards(host.address);
  if (!address.empty()) return address;
  throw Error(ErrorKind::failed,
              "this host has no route to " + host.name + ", whose address is " + quote(host.address));
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

// The shell script of each task. It finds the program, or takes it if it may. Then it runs the program as the agent of
// its node, which reads its keys from standard input.
std::string task_script(const Executable& binary, bool may_take, std::size_t key_bytes, const std::string& endpoint,
                        const std::string& run) {
  const std::string say_so = "head -c " + std::to_string(key_bytes) + " >/dev/null; echo \"" + std::string(kNoProgram) +
                             "$" + kNodeVariable + "\"; exit 0";
  std::ostringstream script;
  script << "trap 'test $? = 0 || echo \"" << kEnded << "$" << kNodeVariable << "\"; exit 0' EXIT\n"
         << binary.find(may_take ? binary.take() : say_so) << "\n"
         << (may_take ? "echo '" + std::string(kTaskReady) + "'\n" : "")  // asks for the keys
         << kCoordinatorVariable << "=" << shell_quote(endpoint) << " " << kKeysVariable << "=" << kKeysFromInput
         << " \"$p\" " << kDialFlag << shell_quote(run) << "@$" << kNodeVariable << "\n";
  if (const std::string first = slurm_variable(kNodeVariable); !first.empty()) {
    script << "code=$?\ntest $code = " << kForsaken << " || exit $code\n"
           << "first=" << shell_quote(first) << "\njob=" << own_job() << "\n"
           << kWatch;
  }
  return script.str();
}

// One srun, and the input for its tasks.
class Srun {
 public:
  // `may_take`: it is for one node, which may take the binary first, and then reports that it is ready for `keys`.
  Srun(const std::vector<std::string>& command, std::string keys, const Executable& binary, bool may_take)
      : binary_(binary), keys_(std::move(keys)), sends_keys_(!may_take) {
    const SocketPair ends = make_socket_pair();
    connection_ = Descriptor(ends.ours);
    fcntl(ends.ours, F_SETFL, O_NONBLOCK);
    const Descriptor theirs(ends.theirs);
    process_ = spawn_command(command, {.input = theirs.number(), .output = theirs.number()});
  }
  ~Srun() {
    connection_ = Descriptor();
    end_child(process_, kSrunEndTimeout);
  }
  Srun(const Srun&) = delete;
  Srun& operator=(const Srun&) = delete;

  int fd() const { return connection_.number(); }
  bool wants_to_write() const { return sends_binary_ || sends_keys_; }

  // Does the work that is possible now. Returns false when srun has ended.
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

  // Returns the nodes that have no program, each once.
  std::vector<std::string> take_without_program() { return std::exchange(without_program_, {}); }
  // A node whose agent has ended; empty: none has.
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
    if (line_ == Executable::kWanted) sends_binary_ = true;
    if (line_ == kTaskReady) sends_keys_ = true;
    if (line_.starts_with(kNoProgram)) without_program_.push_back(line_.substr(kNoProgram.size()));
    if (line_.starts_with(kEnded)) lost_ = line_.substr(kEnded.size());
    line_.clear();
  }

  const Executable& binary_;
  const std::string keys_;  // a line for each node, and an empty line
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

struct SlurmAgents::State {
  State(const std::vector<HostSpec>& the_hosts, const RemoteOptions& the_options)
      : hosts(the_hosts),
        options(the_options),
        agent_keys(make_keys(hosts.size())),
        agents(hosts.size()),
        missing(hosts.size()),
        acceptor({.address = address_for(hosts),
                  .keys = keys,
                  .agents = public_keys(agent_keys),
                  .lease = std::chrono::ceil<std::chrono::seconds>(options.lease)},
                 [this](std::size_t host, Descriptor stream) { arrive(host, std::move(stream)); }) {}
  ~State() {
    acceptor.finish();
    agents.clear();
  }

  // An agent that is being started.
  struct Agent {
    std::unique_ptr<MessageStream> control{};
    std::optional<HostCapacity> capacity{};  // set once the agent has dialed
    std::size_t srun = 0;                    // the srun that starts it
  };

  void start_all();
  void start_with_program(const std::string& node, std::size_t before);
  void start(const std::vector<std::size_t>& there, bool may_take);
  void await();
  void arrive(std::size_t host, Descriptor stream);
  void greet();
  void read_agent(std::size_t host);
  void read_srun(std::size_t srun);
  [[noreturn]] void fail(const std::string& why) const;

  const std::vector<HostSpec> hosts;
  const RemoteOptions options;
  const Executable binary;
  const CurveKeys keys = make_curve_keys();
  const std::vector<CurveKeys> agent_keys;  // by host, as the agents
  std::vector<Agent> agents;
  std::size_t missing;
  std::vector<std::unique_ptr<Srun>> sruns;
  Poller poller;
  std::mutex mutex;
  std::vector<std::pair<std::size_t, Descriptor>> arrivals;
  bool all_there = false;
  AgentAcceptor acceptor;  // destroyed first: its thread uses the members above, and srun waits for agents
};

void SlurmAgents::State::start_all() {
  std::vector<std::vector<std::size_t>> components(hosts.back().component + 1);
  for (std::size_t host = 0; host < hosts.size(); ++host) components[hosts[host].component].push_back(host);
  for (const auto& there : components) start(there, /*may_take=*/false);
}

// srun sends the same input to all its tasks and waits for each task that does not take it. A node that needs the
// program therefore has an srun of its own. `before` is the srun whose task found no program there.
void SlurmAgents::State::start_with_program(const std::string& node, std::size_t before) {
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    if (agents[host].srun == before && slurm_node(hosts[host]) == node) return start({host}, /*may_take=*/true);
  }
}

// Starts agents on these hosts of one component with srun. `may_take`: there is one host, and it may get the program.
void SlurmAgents::State::start(const std::vector<std::size_t>& there, bool may_take) {
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
                 {"/bin/sh", "-c", task_script(binary, may_take, lines.size(), acceptor.endpoint(), options.mark)});
  sruns.push_back(std::make_unique<Srun>(command, std::move(lines), binary, may_take));
  poller.add(sruns.back()->fd(), hosts.size() + sruns.size() - 1, /*writable=*/true);
}

// Waits until there is an agent on every host.
void SlurmAgents::State::await() {
  const Time deadline = after(options.patience);
  std::array<Poller::Ready, 64> ready;
  while (missing > 0) {
    greet();
    const std::size_t count = poller.wait(ready, deadline);
    if (count == 0 && passed(deadline)) fail("some agents did not start in time");
    for (std::size_t i = 0; i < count; ++i) {
      if (ready[i].tag < hosts.size()) {
        read_agent(ready[i].tag);
      } else {
        read_srun(ready[i].tag - hosts.size());
      }
    }
  }
  const std::lock_guard lock(mutex);
  all_there = true;
  arrivals.clear();
}

void SlurmAgents::State::read_srun(std::size_t index) {
  Srun& srun = *sruns[index];
  const bool goes_on = srun.advance();
  if (!srun.lost().empty()) fail("the agent on " + srun.lost() + " could not be started");
  for (const std::string& node : srun.take_without_program()) start_with_program(node, index);
  if (goes_on) return poller.change(srun.fd(), hosts.size() + index, srun.wants_to_write());
  poller.remove(srun.fd());
  for (const Agent& agent : agents) {
    if (agent.srun == index && !agent.capacity.has_value()) fail("srun ended before the agent started");
  }
}

// Runs in the thread of the acceptor. An agent that dials once more, after all were there, is refused.
void SlurmAgents::State::arrive(std::size_t host, Descriptor stream) {
  const std::lock_guard lock(mutex);
  if (all_there) return;
  arrivals.emplace_back(host, std::move(stream));
  poller.wake();
}

void SlurmAgents::State::greet() {
  std::vector<std::pair<std::size_t, Descriptor>> came;
  {
    const std::lock_guard lock(mutex);
    came.swap(arrivals);
  }
  for (auto& [host, stream] : came) {
    if (agents[host].capacity.has_value()) continue;
    if (agents[host].control != nullptr) poller.remove(agents[host].control->fd());
    agents[host].control = std::make_unique<MessageStream>(stream.release(), kSmallMessages);
    poller.add(agents[host].control->fd(), host);
  }
}

void SlurmAgents::State::read_agent(std::size_t host) {
  Agent& agent = agents[host];
  std::string fault;
  const bool open =
      agent.control->receive([&](auto greeting) { agent.capacity = capacity_of(hosts[host], greeting); }, fault);
  if (!agent.capacity.has_value() && open) return;  // only a part of the message has come
  poller.remove(agent.control->fd());
  if (agent.capacity.has_value()) {
    --missing;
  } else {
    agent.control.reset();  // its task reports it, too
  }
}

void SlurmAgents::State::fail(const std::string& why) const {
  std::string names;
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    if (!agents[host].capacity.has_value()) names += (names.empty() ? "" : ", ") + hosts[host].name;
  }
  throw Error(ErrorKind::failed, "some hosts cannot be used: " + why + " (no agent on " + names + ")");
}

SlurmAgents::SlurmAgents(const std::vector<HostSpec>& hosts, const RemoteOptions& options)
    : state_(std::make_unique<State>(hosts, options)) {
  state_->start_all();
  state_->await();
}

SlurmAgents::~SlurmAgents() = default;

std::vector<RemoteAgent> SlurmAgents::take_agents() {
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

void SlurmAgents::finish() { state_->acceptor.finish(); }

}  // namespace lp::launch

#include "launchers/remote/remote_agents.h"

#include "launchers/remote/agent_start.h"
#include "lp/base/error.h"

namespace lp::launch {

std::vector<RemoteAgent> start_agents_there(const std::vector<HostSpec>& hosts, const CommandThere& command,
                                            const RemoteOptions& options, const Executable& binary) {
  std::vector<std::unique_ptr<AgentStart>> starts;
  for (const HostSpec& host : hosts) starts.push_back(std::make_unique<AgentStart>(host, command, binary, options));
  const Time deadline = after(options.patience);
  std::vector<Poller::Ready> ready(hosts.size() + 1);
  for (;;) {
    Poller poller;
    bool any = false;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      starts[i]->advance();
      if (!starts[i]->pending()) continue;
      any = true;
      poller.add(starts[i]->fd(), i, starts[i]->wants_to_write(), !starts[i]->wants_to_write());
    }
    if (!any) break;
    if (poller.wait(ready, deadline) == 0 && now() >= deadline) {
      for (const auto& start : starts) start->give_up("its agent did not start in time");
    }
  }
  std::string problems;
  for (const auto& start : starts) {
    if (const std::string problem = start->problem(); !problem.empty()) problems += "\n  " + problem;
  }
  if (!problems.empty()) throw Error(ErrorKind::failed, "some hosts cannot be used:" + problems);
  std::vector<RemoteAgent> agents;
  for (const auto& start : starts) agents.push_back(start->finish());
  return agents;
}

}  // namespace lp::launch

#include "launchers/remote/remote_agents.h"

#include "launchers/control/control_generated.h"
#include "launchers/control/control_messages.h"
#include "launchers/plan/listen_address.h"
#include "launchers/remote/agent_start.h"
#include "lp/base/error.h"
#include "lp/wire/flatbuffer_text.h"

namespace lp::launch {

std::optional<HostCapacity> capacity_of(const HostSpec& host, std::span<const std::uint8_t> greeting) {
  const control::Message* message = unpack(greeting);
  const control::Hello* hello = message == nullptr ? nullptr : message->body_as_Hello();
  if (hello == nullptr) return std::nullopt;
  HostCapacity capacity{.spec = host, .memory = hello->memory()};
  if (hello->directory() != nullptr) capacity.directory = hello->directory()->str();
  if (hello->cores() != nullptr) capacity.cores.assign(hello->cores()->begin(), hello->cores()->end());
  if (hello->gpus() != nullptr) {
    for (const auto* one : *hello->gpus()) {
      capacity.gpus.push_back(
          {.uuid = wire::text_of(one->uuid()), .name = wire::text_of(one->name()), .memory = one->memory()});
    }
  }
  if (hello->address() != nullptr) capacity.spec.address = listen_address(host, hello->address()->str());
  return capacity;
}

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

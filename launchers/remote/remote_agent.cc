#include "launchers/remote/remote_agent.h"

#include "launchers/control/control_generated.h"
#include "launchers/control/control_messages.h"
#include "launchers/plan/listen_address.h"
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

}  // namespace lp::launch

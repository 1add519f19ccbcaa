#include "launchers/control/node_start.h"

#include <memory>

#include "launchers/control/control_generated.h"
#include "launchers/control/control_messages.h"
#include "lp/wire/flatbuffer_text.h"

namespace lp::launch {
namespace {

std::unique_ptr<control::RunSettingsT> pack_run(const RunSettings& run) {
  auto table = std::make_unique<control::RunSettingsT>();
  table->name = run.name;
  table->seed = run.seed;
  table->token = run.token;
  table->directory = run.directory;
  table->deadline = run.deadline.count();
  table->no_deadlines = run.no_deadlines;
  table->serialize = run.serialize;
  table->path = static_cast<std::uint8_t>(run.path);
  table->shared_memory = run.shared_memory;
  table->outside_key = run.outside_key;
  return table;
}

RunSettings unpack_run(const control::RunSettings& table) {
  const bool known = table.path() <= static_cast<std::uint8_t>(Path::tcp);
  return {.name = wire::text_of(table.name()),
          .seed = table.seed(),
          .token = wire::text_of(table.token()),
          .directory = wire::text_of(table.directory()),
          .deadline = Duration(table.deadline()),
          .no_deadlines = table.no_deadlines(),
          .serialize = table.serialize(),
          .path = known ? static_cast<Path>(table.path()) : Path(),
          .shared_memory = table.shared_memory(),
          .outside_key = wire::text_of(table.outside_key())};
}

}  // namespace

control::StartT pack_start(const NodeStart& start) {
  control::StartT message;
  message.fingerprint = start.fingerprint;
  message.entry = start.entry;
  message.configuration = start.configuration;
  message.run = pack_run(start.run);
  message.listen = start.process.listen;
  message.public_key = start.process.keys.public_key;
  message.secret_key = start.process.keys.secret_key;
  message.nodes = start.nodes;
  message.cut = start.cut;
  message.sends_cuts = start.sends_cuts;
  if (start.spans.has_value()) message.spans = std::make_unique<control::RecordSpansT>(pack_order(*start.spans));
  return message;
}

NodeStart unpack_start(const control::Start& message) {
  NodeStart start{.fingerprint = message.fingerprint(),
                  .entry = wire::text_of(message.entry()),
                  .configuration = wire::text_of(message.configuration()),
                  .run = unpack_run(*message.run()),
                  .process = {.listen = wire::text_of(message.listen()),
                              .keys = {.public_key = wire::text_of(message.public_key()),
                                       .secret_key = wire::text_of(message.secret_key())}},
                  .cut = wire::text_of(message.cut()),
                  .sends_cuts = message.sends_cuts()};
  if (message.spans() != nullptr) start.spans = unpack_order(*message.spans());
  if (message.nodes() != nullptr) start.nodes.assign(message.nodes()->begin(), message.nodes()->end());
  return start;
}

}  // namespace lp::launch

#include "tools/lp/ask.h"

#include "lp/base/error.h"
#include "lp/base/message.h"
#include "tools/lp/refusal.h"

namespace lp::tool {
namespace {
constexpr auto kPatience = std::chrono::seconds(10);
}

internal::LiveClient connect_to(const RunView& run) {
  internal::LiveClient client(run.place.directory);
  if (!client.open()) {
    const RunView now = view_of(run.place);
    throw Refusal(Exit::not_live, run.place.name + ": " + state_of(now) + "; " + outcome_of(now));
  }
  return client;
}

JsonValue ask(internal::LiveClient& client, const std::string& request) {
  const Time until = after(kPatience);
  client.ask(request, until);
  const auto line = client.next(until);
  if (!line.has_value() && client.open()) {
    throw Refusal(Exit::timed_out, "the run does not answer within " + duration_text(kPatience) + ": is it stopped?");
  }
  if (!line.has_value()) throw Refusal(Exit::not_live, "the run has ended meanwhile");
  JsonValue answer = JsonValue::parse(*line);
  if (const JsonValue* error = answer.find("error")) throw Refusal(Exit::failed, error->text());
  return answer;
}

MeasureRecord measure(internal::LiveClient& client) {
  return from_json<MeasureRecord>(ask(client, R"({"ask":"measure"})"));
}

bool wait_between(internal::LiveClient& client, Duration duration) {
  client.next(after(duration));  // nothing comes unasked
  return client.open();
}

}  // namespace lp::tool

#include "launchers/live.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/json.h"
#include "lp/base/json_value.h"

namespace lp::internal {
namespace {

enum class Ask : std::uint8_t { status, follow, stop, restart };

struct Request {
  Ask ask = Ask::status;
  std::string reason{};
  bool force = false;
  std::string node{};
};

std::string answer(std::string_view name, std::string_view text) {
  JsonWriter json;
  json.begin_object();
  json.member(name, text);
  json.end_object();
  return std::move(json).text();
}

}  // namespace

Live::Live(const std::filesystem::path& directory, Loop& loop, Coordinator& coordinator, Function<std::string()> status)
    : coordinator_(coordinator),
      status_(std::move(status)),
      server_(directory, loop,
              {.hear = [this](Client client, std::string_view line) { hear(client, line); },
               .gone = [this](Client client) { followers_.erase(client); }}) {}

void Live::publish(std::string_view status) {
  const std::vector<Client> followers(followers_.begin(), followers_.end());  // sending may drop one
  for (const Client client : followers) {
    // Who has not read the last one gets the next one.
    if (server_.pending(client) == 0) server_.send(client, status);
  }
}

void Live::hear(Client client, std::string_view line) {
  Request request;
  try {
    const JsonValue value = JsonValue::parse(line);
    request = from_json<Request>(value);
    if (value.find("ask") == nullptr) throw Error(ErrorKind::failed, "`ask` is missing");
  } catch (const Error& error) {
    return server_.refuse(client, "this is no request: " + error.text());
  }
  try {
    switch (request.ask) {
      case Ask::follow: followers_.insert(client); [[fallthrough]];
      case Ask::status: return server_.send(client, status_());
      case Ask::stop: return server_.send(client, answer("done", stop(request.reason, request.force)));
      case Ask::restart: return server_.send(client, answer("done", coordinator_.restart_node(request.node)));
    }
  } catch (const Error& error) {
    server_.send(client, answer("error", error.text()));
  }
}

std::string Live::stop(const std::string& reason, bool force) {
  const bool stops_already = coordinator_.phase() >= Phase::stopping;
  coordinator_.stop(reason.empty() ? "somebody stopped it" : reason);
  if (force) coordinator_.kill();
  if (!stops_already) return force ? "it is ended by force" : "it stops";
  return (force ? "it is ended by force; it was stopping already: " : "it was stopping already: ") +
         coordinator_.result().reason;
}

}  // namespace lp::internal

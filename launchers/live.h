#pragma once
// What a running program offers to who looks at it from outside: requests and answers over its control socket, a line
// of JSON each. The lp command is the usual asker; README.md tells the protocol.
//
//   {"ask":"status"}                         the status, as in status.json
//   {"ask":"follow"}                         the same, again and again: whenever it has changed
//   {"ask":"stop","reason":"enough"}         {"done":"..."}; with "force":true at once
//   {"ask":"restart","node":"worker/1"}      {"done":"..."}
//
// What cannot be done is answered with {"error":"..."}. The connection closes when the run has ended.
//
// Owned and used by the loop thread of a run, except for the constructor, which any thread may call.

#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "launchers/coordinator.h"
#include "launchers/live_server.h"
#include "launchers/loop.h"

namespace lp::internal {

class Live {
 public:
  // `status` gives the status as JSON. Throws Error when there can be no socket.
  Live(const std::filesystem::path& directory, Loop& loop, Coordinator& coordinator, Function<std::string()> status);

  // The status has changed: for those who follow.
  void publish(std::string_view status);
  // The run has ended, and its result is written.
  void finish(Time until) { server_.finish(until); }

 private:
  using Client = LiveServer::Client;

  void hear(Client client, std::string_view line);
  std::string stop(const std::string& reason, bool force);

  Coordinator& coordinator_;
  Function<std::string()> status_;
  std::set<Client> followers_;
  LiveServer server_;
};

}  // namespace lp::internal

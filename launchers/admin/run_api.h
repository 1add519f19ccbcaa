#pragma once
// What a running program offers to who looks at it from outside: requests and answers over its control socket, a line
// of JSON each. The lp command is the usual asker; README.md tells the protocol.
//
//   {"ask":"status"}                         the status, as in status.json
//   {"ask":"follow"}                         the same, again and again: whenever it has changed
//   {"ask":"stop","reason":"enough","by":"ann (lp stop)"}
//                                            {"done":"..."}; with "force":true at once
//   {"ask":"measure"}                        a MeasureRecord: what processes use, and the calls between nodes
//   {"ask":"restart","node":"worker/1"}      {"done":"..."}
//   {"ask":"file","name":"logs/worker/1.log","from":0}
//                                            a FilePart: what is behind so many bytes of a file in the run's directory
//
// What cannot be done is answered with {"error":"..."}. The connection closes when the run has ended.
//
// Owned and used by the loop thread of a run, except for the constructor, which any thread may call.

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "launchers/admin/admin_server.h"
#include "launchers/control/measurement.h"
#include "launchers/os/event_loop.h"
#include "launchers/supervisor/coordinator.h"
#include "launchers/supervisor/supervision_graph.h"

namespace lp::internal {

// A part of a file, for who cannot see the run's directory.
struct FilePart {
  std::uint64_t id = 0;  // another one when it is another file under the same name; 0: there is none
  std::string bytes{};   // as characters, from U+0000 to U+00FF; empty: there is no more
};

class Live {
 public:
  // Throws Error when there can be no socket.
  Live(const std::filesystem::path& directory, const Topology& topology, Loop& loop, Coordinator& coordinator,
       Function<RunStatus()> status);

  // The status has changed: for those who follow.
  void publish(std::string_view status);
  // A part of what was asked for with Coordinator::measure().
  void on_measured(std::size_t unit, Measurement part);
  // When advance() has something to do: who does not answer is not waited for.
  Time next() const { return measures_until_; }
  void advance(Time now);
  // The run has ended, and its result is written.
  void finish(Time until) { server_.finish(until); }

 private:
  using Client = LiveServer::Client;

  void hear(Client client, std::string_view line);
  FilePart part_of(const std::string& name, std::uint64_t from) const;
  std::string stop(const std::string& reason, const std::string& given_by, bool force);

  void forget(Client client);
  void measure(Client client);
  void answer_if_complete();
  void answer_measurers();

  const std::filesystem::path directory_;
  const Topology& topology_;
  Coordinator& coordinator_;
  Function<RunStatus()> status_;
  std::set<Client> followers_;
  std::set<Client> measurers_;                   // who wait for an answer
  std::map<std::size_t, Measurement> measured_;  // what the units that were asked have said so far
  Time measures_until_ = kNever;                 // then the answer is what is there; kNever: nothing is measured
  LiveServer server_;
};

}  // namespace lp::internal

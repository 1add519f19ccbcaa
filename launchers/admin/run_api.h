#pragma once
// The requests that a running program answers over its admin socket. Each request and each answer is a line of JSON.
// The lp command is the usual client; README.md describes the protocol.
//
//   {"ask":"status"}                         the status, as in status.json
//   {"ask":"follow"}                         the same, and again whenever it has changed
//   {"ask":"stop","reason":"enough","by":"ann (lp stop)"}
//                                            {"done":"..."}; with "force":true at once
//   {"ask":"measure"}                        a MeasureRecord: the processes' resources, and the calls between nodes
//   {"ask":"waits"}                          a WaitsRecord: what nodes and threads wait for
//   {"ask":"spans","share":1,"bounded":true} a SpansRecord: the spans since the last time; they are recorded until the
//                                            client, the only one at a time, closes its connection. When the run ends,
//                                            the last spans come without a request
//   {"ask":"stack","node":"worker/1"}        {"stack":"..."}: the native stacks of the threads of the node's process
//   {"ask":"restart","node":"worker/1"}      {"done":"..."}; of a group, too; with "force":true also when that throws
//                                            away work that no checkpoint has
//   {"ask":"file","name":"logs/worker/1.log","from":0}
//                                            a FilePart: the bytes of a file in the run's directory, beginning at
//                                            "from"
//
// A request that fails gets {"error":"..."}. The connection closes when the run has ended.
//
// The loop thread of a run owns and uses it. Any thread may call the constructor.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launchers/admin/admin_server.h"
#include "launchers/control/measurement.h"
#include "launchers/control/spans_record.h"
#include "launchers/os/event_loop.h"
#include "launchers/supervisor/coordinator.h"
#include "launchers/supervisor/supervision_graph.h"

namespace lp::launch {

// A part of a file, for a client that cannot see the run's directory.
struct FilePart {
  std::uint64_t id = 0;  // differs for another file under the same name; 0: there is none
  std::string bytes{};   // as characters from U+0000 to U+00FF; empty: the end of the file
};

class RunApi {
 public:
  // Throws Error when there can be no socket.
  RunApi(const std::filesystem::path& directory, const SupervisionGraph& graph, EventLoop& loop,
         Coordinator& coordinator, Function<RunStatus()> status);

  // Sends the changed status to the clients that follow it.
  void publish(std::string_view status);
  // Takes a part of the answer to Coordinator::measure().
  void on_measured(std::size_t process, const Measurement& part);
  // A process of this id has ended; 0: its nodes were threads of this one.
  void on_ended(std::size_t process, int pid);
  // When advance() is due: then an answer goes out without the processes that have not answered.
  Time next() const;
  void advance(Time now);
  // The run has ended, and its result is written.
  void finish(Time until);

 private:
  using Client = AdminServer::Client;

  void handle(Client client, std::string_view line);
  FilePart part_of(const std::string& name, std::uint64_t from) const;
  std::string stop(const std::string& reason, const std::string& given_by, bool force);

  // A question to processes, on its way. Its answer serves all clients that have asked the same meanwhile.
  struct Question {
    std::set<Client> clients{};
    std::map<std::size_t, Measurement> parts{};  // the answers of processes so far
    int asked = 0;                               // about stacks: the id of the process that was asked
    Time until = kNever;  // then the answer has the parts that have come; kNever: processes are being asked
  };
  using Subject = std::pair<Inquiry, std::string>;  // the string: the node, for an inquiry about one

  void forget(Client client);
  void ask(Client client, Inquiry what, const std::string& node = {});
  void record_spans(Client client, const Sampling& sampling);
  std::vector<std::size_t> send_question(Inquiry what, const std::string& node);
  void answer_complete();
  std::string answer_to(const Subject& subject, const Question& question);
  int pid_of(std::size_t process);
  std::string use_record(const Question& question);
  std::string spans_record(const Question& question);
  std::vector<std::string> names_of(std::size_t process) const;

  const std::filesystem::path directory_;
  const SupervisionGraph& graph_;
  Coordinator& coordinator_;
  Function<RunStatus()> status_;
  std::set<Client> followers_;
  std::map<Subject, Question> questions_;
  struct Spans {
    std::size_t process = 0;
    Time came{};
    std::string text{};
  };
  // Spans are recorded for one client: its order, and what came since it got the last answer.
  struct Recording {
    Client client{};
    SpanOrder order{};
    std::vector<Spans> answers{};
    std::vector<SpansRecord::Lost> lost{};
    Time begin{};
    std::map<std::size_t, Time> since{};  // by process: its last answer
    std::set<std::size_t> handed_over{};  // the processes that end, and have sent all
  };
  std::optional<Recording> recording_;
  AdminServer server_;
};

}  // namespace lp::launch

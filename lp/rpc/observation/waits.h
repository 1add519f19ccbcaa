#pragma once
// What the nodes of one process wait for at one moment: their threads, the calls that have no reply yet, the holders of
// turns. lp why joins those of all processes of a run. Values, which to_json and from_json know.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lp {

// A thread that waits in lp.
struct WaitingThread {
  enum class For : std::uint8_t {
    reply,   // from a call
    item,    // the next item of the stream that the call brings
    room,    // the call cannot leave yet
    future,  // a value that other code brings
    turn,    // the turn of its own service
    time,    // Context::wait_for, or a stop
    save,    // its last checkpoint is not written yet
  };

  int thread = 0;  // the kernel's number
  For what = For::reply;
  std::string callee{};  // reply, item and room: of the call; empty: unknown
  std::string method{};
  std::uint64_t call_chain = 0;  // the chain of the call; 0: there is no call
  std::uint64_t chain = 0;       // the chain of the code that waits; 0: it is no handler
  double seconds = 0;            // so far
  std::optional<double> left{};  // until the deadline of the call, or the end of a sleep; nothing: it has none
};

// A call without a reply.
struct OpenCall {
  enum class State : std::uint8_t {
    held,     // at its caller: the callee is not up
    asks,     // at its caller: the callee has no room for it
    sent,     // at its callee, as its caller sees it
    queued,   // at its callee: it waits for the turn
    limited,  // at its callee: as many calls of its method run as may
    open,     // at its callee: the handler has returned, and its Future is not ready
    paused,   // at its callee: a stream that waits until its reader takes items
  };

  std::string caller{};  // "outside": no node of the program
  std::string callee{};
  std::string method{};
  std::uint64_t chain = 0;
  State state = State::sent;
  std::optional<double> seconds{};  // since it was made, as its caller knows; nothing, like `left`: it has no deadline
  std::optional<double> left{};
};

// The versions of a Published that readers hold.
struct HeldVersions {
  std::uint64_t newest = 0;
  std::uint64_t held = 0;   // the number of versions that somebody holds
  std::uint64_t limit = 0;  // while more are held, publish fails
  std::uint64_t oldest = 0;
  std::string reader{};  // one that holds the oldest
  double seconds = 0;    // since it read it
};

// A handler that runs.
struct RunningHandler {
  std::string work{};    // the method, or "then" or "exclusive"
  std::string caller{};  // empty: no node
  std::uint64_t chain = 0;
  int thread = 0;
  double seconds = 0;
};

struct NodeWaits {
  std::string node{};
  int run_thread = 0;                    // the thread of run(); 0: none
  std::optional<RunningHandler> turn{};  // the one in the turn; nothing: the turn is free, or its holder has no name
  std::vector<RunningHandler> beside{};  // concurrent ones that run now in threads of the pool
  std::uint64_t queue = 0;               // the number of tasks that wait for the turn
  std::vector<WaitingThread> threads{};
  std::vector<HeldVersions> versions{};
};

struct ProcessWaits {
  static constexpr std::size_t kMost = 1000;  // calls, and threads of a node; more are left out
  // The same for those that look often: listing 1,000 calls of each process again and again would cost a program that
  // makes many calls at once a tenth of its speed.
  static constexpr std::size_t kFew = 50;

  std::vector<NodeWaits> nodes{};
  std::vector<OpenCall> calls{};
};

}  // namespace lp

#pragma once
// The waits of all processes of a run at one moment, joined: which node waits for which. Built from a WaitsRecord and
// the plan alone. Values and pure functions.
//
// An activity is one thing that goes on at a node: its run(), the handler that has its turn, another of its threads
// that waits, or a call whose handler has returned a Future that is not ready. It waits for one other activity, or its
// wait ends with it. Where several others could end its wait, it waits for the first that does not wait for it in turn.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "launchers/control/waits_record.h"
#include "lp/program/plan.h"

namespace lp::launch {

struct Activity {
  // Why it waits for the next one.
  enum class Why : std::uint8_t {
    runs,     // that runs its call
    queued,   // its call waits until that has given the turn back
    room,     // its call cannot leave before that has taken others
    missing,  // that is expected to bring the value
    own,      // that is of the same node, and may bring the value
    reader,   // that does not take the items of its stream
    lock,     // that has the lock
  };
  // Its state, where it waits for no other activity.
  enum class End : std::uint8_t {
    unknown,  // nothing is known but that it goes on
    works,    // has the processor, or would
    sleeps,   // in Context::wait_for, or until the run stops
    blocked,  // in a system call
    stopped,  // by a signal, or a debugger
    silent,   // its process does not answer
    cut_off,  // its host does not answer
    down,     // the node has no incarnation that serves
    nobody,   // waits for a value that nobody is left to bring
  };

  std::string node{};
  std::string work{};    // "run()", "push()"; empty: the node as a whole
  std::string caller{};  // the node whose call it serves; empty: none
  std::uint64_t chain = 0;
  int thread = 0;        // 0: it has none
  bool open = false;     // its handler has returned a Future
  bool in_lp = false;    // it waits in lp
  std::string callee{};  // in lp: the node whose reply, items or room it waits for; empty: it waits for something else
  double seconds = 0;    // as far as that is known
  double waits = 0;      // in lp: since its present wait began
  std::string does{};    // "waits for server.pull(), for 3 s, with 27 s left", "works", "blocked in read() of /a"
  std::optional<std::size_t> next{};  // the activity for which it waits
  Why why = Why::runs;
  End end = End::unknown;              // without a next one
  bool until_stop = false;             // End::sleeps: until the run stops
  bool restarts = false;               // End::down: it has failed, and is expected to come back
  bool lacks_value = false;            // End::unknown: it waits for a value, and nobody knows which code will bring it
  std::string detail{};                // about the end: the system call, the last failure, the host, the process
  std::vector<std::string> missing{};  // Why::missing: the nodes that may bring the value
};

struct WaitGraph {
  std::vector<Activity> activities{};
  std::map<std::string, std::size_t> queues{};  // by node: the calls to it that its handlers have not begun

  // The activities from one to the end of its wait. In a circle the last one is the first that would come twice.
  std::vector<std::size_t> chain_of(std::size_t activity) const;
};

// "server.push()", "worker/1.run()", "worker/1".
std::string name_of(const Activity& activity);
// "3 s", "250 ms"; and ", for 3 s", or nothing for an unknown age.
std::string age_text(double seconds);
std::string lasts(double seconds);

WaitGraph wait_graph(const Plan& plan, const WaitsRecord& record);

}  // namespace lp::launch

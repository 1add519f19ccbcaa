#pragma once
// Finds the troubles of a run in a few looks at it: deadlocks, nodes that keep others waiting, checkpoints that cannot
// be saved, overloaded services, slow replicas, nodes without a processor. Pure functions of the run's answers.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "launchers/control/measurement.h"
#include "launchers/control/waits_record.h"
#include "launchers/observation/wait_graph.h"
#include "lp/program/plan.h"

namespace lp::tool {

using launch::Activity;
using launch::age_text;
using launch::lasts;
using launch::wait_graph;
using launch::WaitGraph;

struct Diagnosis {
  enum class Kind : std::uint8_t {
    deadlock,   // nodes, or threads with locks, wait for one another
    stopped,    // a process is stopped
    cut_off,    // a host does not answer
    silent,     // a process does not answer
    down,       // calls wait for a node that has no incarnation
    blocked,    // a node is blocked in the kernel, and others wait
    reader,     // a stream is full, because its reader takes nothing
    missing,    // a value is not brought, as of a barrier that lacks a member
    handler,    // a handler goes on and on, and others wait
    versions,   // readers hold old versions, so that nothing can be published
    unsaved,    // a checkpoint could not be saved
    straggler,  // a replica is slower than the others
    saturated,  // a service has more calls than it can handle
    starved,    // nodes could run and get no processor; `waiters` are all of these
  };
  Kind kind = Kind::handler;
  std::string node{};                  // where the cause is
  std::string text{};                  // a sentence
  std::size_t waiting = 0;             // the number of other nodes, or of calls, that wait because of it
  std::vector<std::string> waiters{};  // these nodes
  std::vector<std::string> chain{};    // the longest chain that leads to it: a step each
};

// The answers of a run during some time. The samples have the order of time; at least one.
struct Evidence {
  Plan plan{};
  std::vector<WaitsRecord> samples{};
  MeasureRecord before{};
  MeasureRecord after{};
};

// The diagnoses; of the same weight, those with more that waits come first. A wait counts only if it lasts from the
// first sample to the last.
std::vector<Diagnosis> diagnose(const Evidence& evidence);

// Whether one of these nodes is the cause, waits because of it, or is a caller of the service that is saturated.
bool concerns(const Diagnosis& diagnosis, const Plan& plan, const std::set<std::string>& nodes);

// Calls `observe` for further evidence until kLastingSeconds are seen, and removes the stragglers that are none each
// time. Does not call it when nothing is found to be a straggler.
void keep_lasting_stragglers(std::vector<Diagnosis>& found, const Evidence& evidence,
                             const std::function<Evidence()>& observe);

// The parts. `graph`: of the last sample.
std::vector<Diagnosis> diagnose_waits(const Evidence& evidence, const WaitGraph& graph);
std::vector<Diagnosis> diagnose_load(const Evidence& evidence);
std::vector<Diagnosis> diagnose_starved(const Evidence& evidence);

}  // namespace lp::tool

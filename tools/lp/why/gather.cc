#include "tools/lp/why/gather.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "tools/lp/command_error.h"
#include "tools/lp/run_requests.h"

namespace lp::tool {
namespace {

constexpr int kLooks = 20;
constexpr auto kLookAgain = std::chrono::seconds(1);      // at least
constexpr auto kBetween = std::chrono::milliseconds(50);  // two looks, at least

}  // namespace

Evidence collect_evidence(launch::AdminClient& client, Plan plan, Duration duration) {
  Evidence evidence{.plan = std::move(plan), .samples = {}, .before = measure(client), .after = {}};
  const Duration between = std::max<Duration>(kBetween, duration / kLooks);
  const Time end = after(std::max<Duration>(kBetween, duration));
  for (bool last = false; !last;) {
    last = passed(end);
    evidence.samples.push_back(from_json<WaitsRecord>(ask(client, R"({"ask":"waits"})")));
    if (!last && !wait_between(client, std::min(between, until(end)))) {
      throw CommandError(Exit::not_live, "the run has ended meanwhile");
    }
  }
  evidence.after = measure(client);
  return evidence;
}

std::vector<Diagnosis> find_troubles(launch::AdminClient& client, const Evidence& evidence) {
  std::vector<Diagnosis> found = diagnose(evidence);
  const double seconds = evidence.after.time - evidence.before.time;
  keep_lasting_stragglers(found, evidence, [&] {
    return collect_evidence(client, evidence.plan, std::max<Duration>(from_seconds(seconds), kLookAgain));
  });
  return found;
}

void write_findings(JsonWriter& json, const WaitGraph& graph, const std::vector<Diagnosis>& found,
                    const std::set<std::string>& shown) {
  json.member("diagnoses", found);
  json.key("activities");
  json.begin_array();
  for (const Activity& one : graph.activities) {
    if (!shown.contains(one.node)) continue;
    json.begin_object();
    json.member("node", one.node);
    json.member("work", one.work);
    json.member("caller", one.caller);
    json.member("thread", one.thread);
    json.member("seconds", one.seconds);
    json.member("does", one.does);
    if (one.next.has_value()) {
      const Activity& next = graph.activities[*one.next];
      json.member("why", one.why);
      json.member("next_node", next.node);
      json.member("next_work", next.work);
    } else {
      json.member("end", one.end);
    }
    json.end_object();
  }
  json.end_array();
}

}  // namespace lp::tool

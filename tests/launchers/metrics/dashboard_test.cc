// The dashboard for Grafana shows series that a run has.

#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

#include "launchers/metrics/run_metrics.h"
#include "launchers/supervisor/supervision_graph.h"
#include "lp/base/json_value.h"
#include "tests/launchers/tools_for_test.h"

namespace lp::launch {
namespace {

// The members with this key at any depth.
void collect(const JsonValue& value, std::string_view key, std::vector<std::string>& texts) {
  for (std::size_t i = 0; i < value.items().size(); ++i) {
    if (value.kind() == JsonValue::Kind::object && value.keys()[i] == key) texts.push_back(value.items()[i].text());
    collect(value.items()[i], key, texts);
  }
}

std::string all_metrics() {
  SupervisionGraph graph{.nodes = {{.name = "server"}}, .groups = {{.name = "server"}}, .processes = {{.nodes = {0}}}};
  graph.complete();
  RunMetrics metrics(graph);
  metrics.on_measured(0, {.metrics = MetricSamples{.samples = {{.node = "server", .name = "lp_node_queue_length"}}}});
  return metrics.text({.status = {.nodes = {{.name = "server"}}}, .cut_time = 1});
}

TEST(Dashboard, ShowsSeriesThatARunHas) {
  std::vector<std::string> queries;
  collect(JsonValue::parse(test::contents(DASHBOARD)), "expr", queries);
  EXPECT_GT(queries.size(), 10U);
  const std::string text = all_metrics();
  const std::regex name("lp_[a-z_]+");
  for (const std::string& query : queries) {
    std::set<std::string> names;
    for (std::sregex_iterator at(query.begin(), query.end(), name), end; at != end; ++at) names.insert(at->str());
    EXPECT_FALSE(names.empty()) << query;
    for (std::string one : names) {
      one = std::regex_replace(one, std::regex("_(bucket|sum|count)$"), "");
      EXPECT_NE(text.find("# TYPE " + one + " "), std::string::npos) << one << " in " << query;
    }
  }
}

}  // namespace
}  // namespace lp::launch

// The dashboard for Grafana shows series that a run has.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

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

// The names of lp's series in a query, without the endings of a histogram's series.
std::set<std::string> series_in(std::string_view query) {
  std::set<std::string> names;
  std::size_t end = 0;
  for (std::size_t at = query.find("lp_"); at < query.size(); at = query.find("lp_", end)) {
    end = std::min(query.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", at), query.size());
    std::string_view name = query.substr(at, end - at);
    for (const std::string_view ending : {"_bucket", "_sum", "_count"}) {
      if (!name.ends_with(ending)) continue;
      name.remove_suffix(ending.size());
      break;
    }
    names.emplace(name);
  }
  return names;
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
  for (const std::string& query : queries) {
    const std::set<std::string> names = series_in(query);
    EXPECT_FALSE(names.empty()) << query;
    for (const std::string& one : names) {
      EXPECT_NE(text.find("# TYPE " + one + " "), std::string::npos) << one << " in " << query;
    }
  }
}

}  // namespace
}  // namespace lp::launch

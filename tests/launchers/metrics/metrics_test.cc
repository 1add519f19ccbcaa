// The metrics of a run: the text that Prometheus reads, and how a run serves it.

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "launchers/metrics/call_metrics.h"
#include "launchers/metrics/metric_text.h"
#include "launchers/metrics/node_metrics.h"
#include "launchers/metrics/run_metrics.h"
#include "launchers/run.h"
#include "lp/base/json_value.h"
#include "lp/rpc/core/counters.h"
#include "tests/directory.h"
#include "tests/error_of.h"
#include "tests/launchers/http/http_get.h"
#include "tests/launchers/programs_for_test.h"
#include "tests/launchers/tools_for_test.h"

namespace lp::launch {
namespace {

using Kind = MetricSample::Kind;

SupervisionGraph graph_of(std::size_t workers) {
  SupervisionGraph graph;
  graph.groups = {{.name = "server"}, {.name = "worker"}};
  graph.nodes.push_back({.name = "server"});
  for (std::size_t i = 0; i < workers; ++i) {
    graph.nodes.push_back({.name = "worker/" + std::to_string(i), .group = 1, .process = i + 1, .calls = {0}});
  }
  graph.processes.resize(workers + 1);
  for (NodeId node = 0; node < graph.nodes.size(); ++node) graph.processes[node].nodes = {node};
  graph.complete();
  return graph;
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(MetricText, EscapesWhatNodesSayAndWritesNumbersAsPrometheusReadsThem) {
  std::string labels;
  add_label(labels, "a", "x\"\\\ny");
  add_label(labels, "b", "\xff");
  std::string text;
  write_head(text, {"m", Kind::counter, "a \"help\"\\\nin two lines"});
  write_series(text, "m", labels, std::numeric_limits<double>::quiet_NaN());
  write_series(text, "m", "", -std::numeric_limits<double>::infinity());
  write_series(text, "m", "", 0.1);
  write_series(text, "m", "", std::uint64_t{1} << 63);
  EXPECT_EQ(
      text,
      "# HELP m a \"help\"\\\\\\nin two lines\n# TYPE m counter\nm{a=\"x\\\"\\\\\\ny\",b=\"\"} NaN\nm -Inf\nm 0.1\n"
      "m 9223372036854775808\n");
  EXPECT_EQ(metric_number(std::numeric_limits<double>::infinity()), "+Inf");
}

TEST(MetricText, TheBucketsOfAHistogramAddUp) {
  std::string text;
  HistogramText histogram(text, "h", "a=\"1\"");
  histogram.bucket("0.5", 2);
  histogram.bucket("1", 3);
  histogram.end(1, 7.5);
  EXPECT_EQ(text,
            "h_bucket{a=\"1\",le=\"0.5\"} 2\nh_bucket{a=\"1\",le=\"1\"} 5\nh_bucket{a=\"1\",le=\"+Inf\"} 6\n"
            "h_sum{a=\"1\"} 7.5\nh_count{a=\"1\"} 6\n");
}

MeasureRecord::Calls calls_of(const std::string& caller, std::uint64_t calls) {
  MeasureRecord::Calls record{.caller = caller,
                              .callee = "server",
                              .method = "push",
                              .calls = calls,
                              .ended = calls,
                              .errors = 1,
                              .bytes_sent = 100 * calls,
                              .bytes_received = 20 * calls,
                              .latency_sum = calls * 5000,
                              .sent_sizes = {0, calls},
                              .received_sizes = {calls}};
  record.latency = std::vector<std::uint64_t>(14, 0);
  record.latency[10] = 1;  // under 1.024 us
  record.latency[13] = 2;  // under 8.192 us
  return record;
}

std::string text_of(const CallMetrics& metrics) {
  std::string text;
  metrics.write(text);
  return text;
}

TEST(CallMetrics, AreOfEdgesAndOfGroups) {
  CallMetrics metrics(graph_of(2));
  metrics.set(1, std::vector<MeasureRecord::Calls>{calls_of("worker/0", 10), calls_of("worker/0", 5)});
  metrics.set(2, std::vector<MeasureRecord::Calls>{calls_of("worker/1", 20)});
  const std::string text = text_of(metrics);
  EXPECT_TRUE(has_line(text, R"(lp_calls_total{caller="worker/0",callee="server",method="push"} 15)"));
  EXPECT_TRUE(has_line(text, R"(lp_calls_total{caller="worker/1",callee="server",method="push"} 20)"));
  EXPECT_TRUE(has_line(text, R"(lp_call_errors_total{caller="worker/0",callee="server",method="push"} 2)"));
  const std::string labels = R"({caller_group="worker",callee_group="server",method="push")";
  EXPECT_TRUE(has_line(text, "lp_call_seconds_bucket" + labels + ",le=\"1.024e-06\"} 3"));
  EXPECT_TRUE(has_line(text, "lp_call_seconds_bucket" + labels + ",le=\"4.096e-06\"} 3"));
  EXPECT_TRUE(has_line(text, "lp_call_seconds_bucket" + labels + ",le=\"1.6384e-05\"} 9"));
  EXPECT_TRUE(has_line(text, "lp_call_seconds_count" + labels + "} 9"));
  EXPECT_TRUE(has_line(text, "lp_call_request_bytes_bucket" + labels + ",le=\"64\"} 0"));
  EXPECT_TRUE(has_line(text, "lp_call_request_bytes_bucket" + labels + ",le=\"1024\"} 35"));
  EXPECT_TRUE(has_line(text, "lp_call_request_bytes_sum" + labels + "} 3500"));
}

TEST(CallMetrics, EdgesHaveHistogramsOfTheirOwnWithinABound) {
  CallMetrics metrics(graph_of(2));
  metrics.set(1, std::vector<MeasureRecord::Calls>{calls_of("worker/0", 10)});
  std::string text = text_of(metrics);
  const std::string labels = R"({caller="worker/0",callee="server",method="push")";
  EXPECT_TRUE(has_line(text, "lp_edge_request_bytes_bucket" + labels + ",le=\"1024\"} 10"));
  EXPECT_TRUE(has_line(text, "lp_edge_request_bytes_sum" + labels + "} 1000"));
  EXPECT_TRUE(has_line(text, "lp_edge_call_seconds_count" + labels + "} 3"));
  EXPECT_TRUE(has_line(text, "lp_left_out_edges 0"));
  std::vector<MeasureRecord::Calls> many;
  for (std::size_t i = 0; i < CallMetrics::kMostEdges; ++i) {
    many.push_back(calls_of("worker/1", 10));
    many.back().method = "m" + std::to_string(i);
  }
  metrics.set(2, many);
  text = text_of(metrics);
  EXPECT_TRUE(has_line(text, "lp_edge_request_bytes_sum" + labels + "} 1000"));
  EXPECT_TRUE(has_line(text, "lp_left_out_edges 1"));
  metrics.set(1, {});
  metrics.set(2, many);
  EXPECT_TRUE(has_line(text_of(metrics), "lp_left_out_edges 0"));
}

TEST(CallMetrics, AGroupKeepsWhatARestartedProcessHasCounted) {
  CallMetrics metrics(graph_of(1));
  for (const std::uint64_t calls : {10U, 10U, 15U, 4U}) {  // 4: of its next incarnation
    metrics.set(1, std::vector<MeasureRecord::Calls>{calls_of("worker/0", calls)});
  }
  const std::string text = text_of(metrics);
  EXPECT_TRUE(has_line(text, R"(lp_calls_total{caller="worker/0",callee="server",method="push"} 4)"));
  EXPECT_TRUE(
      has_line(text, R"(lp_call_request_bytes_sum{caller_group="worker",callee_group="server",method="push"} 1900)"));
}

TEST(CallMetrics, ASizeIsInTheFirstBucketWithRoom) {
  for (const auto& [bytes, bucket] : std::vector<std::pair<std::uint64_t, std::size_t>>{
           {0, 0}, {64, 0}, {65, 1}, {1024, 1}, {1025, 2}, {16384, 2}, {1 << 30, 6}, {(1 << 30) + 1, 7}}) {
    EXPECT_EQ(SizeHistogram::bucket(bytes), bucket) << bytes;
  }
}

TEST(NodeMetrics, ANameHasTheKindThatItsFirstNodeGivesIt) {
  const SupervisionGraph graph = graph_of(2);
  NodeMetrics metrics(graph);
  metrics.set(1, {.samples = {{.node = "worker/0", .name = "a", .help = "first", .kind = Kind::gauge, .value = 1}}});
  metrics.set(2, {.samples = {{.node = "worker/1", .name = "a", .help = "other", .kind = Kind::counter, .value = 2},
                              {.node = "stranger", .name = "b"}},
                  .dropped = 5});
  std::string text;
  EXPECT_EQ(metrics.write(text), 6U);
  EXPECT_EQ(text, "# HELP a first\n# TYPE a gauge\na{group=\"worker\",node=\"worker/0\"} 1\n");
  metrics.set(1, {});  // its next incarnation has none yet
  text.clear();
  EXPECT_EQ(metrics.write(text), 5U);
  EXPECT_EQ(text, "# HELP a other\n# TYPE a counter\na{group=\"worker\",node=\"worker/1\"} 2\n");
}

// The values of the series with this name.
std::map<std::string, std::string> values_of(const std::string& text, const std::string& name) {
  std::map<std::string, std::string> values;
  for (std::size_t at = text.find("\n" + name); at != std::string::npos; at = text.find("\n" + name, at + 1)) {
    const std::string line = text.substr(at + 1, text.find('\n', at + 1) - at - 1);
    if (line[name.size()] != ' ' && line[name.size()] != '{') continue;
    const std::size_t space = line.rfind(' ');
    values[line.substr(name.size(), space - name.size())] = line.substr(space + 1);
  }
  return values;
}

// Asks until the answer has what is wanted.
template <class Wanted>
std::string scrape_until(const std::string& url, Wanted wanted) {
  const Time end = after(std::chrono::seconds(30));
  std::string text;
  while (!wanted(text) && now() < end) text = test::http_get(url);
  EXPECT_TRUE(wanted(text)) << text;
  return text;
}

void expect_metrics(lp::Run& run) {
  ASSERT_TRUE(run.wait_ready(std::chrono::seconds(30)));
  for (int i = 0; i < 3; ++i) run.client<test::Counter>("counter").call<&test::Counter::total>();
  const std::string text = scrape_until(run.metrics_url(), [](const std::string& answer) {
    return has_line(answer, R"(lp_calls_total{caller="worker/1",callee="counter",method="set_worker_pid"} 1)") &&
           has_line(answer, R"(test_runs_total{group="worker",node="worker/0"} 1)") &&
           values_of(answer, "lp_node_queue_length").size() == 3;
  });
  EXPECT_TRUE(text.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_TRUE(has_line(text, R"(lp_node_state{group="worker",node="worker/1",state="running"} 1)"));
  for (const auto& [labels, calls] : values_of(text, "lp_node_queue_length")) EXPECT_LE(std::stoi(calls), 3) << labels;
  EXPECT_TRUE(has_line(text, R"(lp_run_phase{phase="running"} 1)"));
  EXPECT_TRUE(has_line(text, "lp_run_info{run=\"" + run.name() + "\",program=\"counting\"} 1"));
  EXPECT_TRUE(has_line(text, "lp_dropped_series 0"));
  EXPECT_EQ(values_of(text, "lp_node_restarts_total").size(), 3U);
  EXPECT_TRUE(test::http_get(run.metrics_url() + "x").starts_with("HTTP/1.1 404 "));
  const std::string url = run.metrics_url();
  run.stop("enough");
  run.wait();
  EXPECT_EQ(test::http_get(url), "");
}

TEST(RunMetrics, HaveTheUseOfTheGpusOfEachProcess) {
  const SupervisionGraph graph = graph_of(2);
  RunMetrics metrics(graph);
  RunMetrics::Picture picture;
  picture.status.nodes.resize(graph.nodes.size());
  for (NodeStatus& node : picture.status.nodes) node.state = NodeStatus::State::running;
  picture.status.nodes[2].host = "h2";
  metrics.on_measured(0, {.use = ProcessUse{.memory = 1}});
  metrics.on_measured(1, {.use = ProcessUse{.memory = 1, .gpus = {.uuids = {"GPU-a"}, .busy = 0.75, .memory = 2048}}});
  metrics.on_measured(2, {.use = ProcessUse{.memory = 1, .gpus = {.uuids = {"MIG-b", "MIG-c"}, .memory = 4096}}});
  const std::string text = metrics.text(picture);
  EXPECT_TRUE(has_line(text, R"(lp_process_gpu_memory_bytes{process="worker/0",gpus="GPU-a"} 2048)")) << text;
  EXPECT_TRUE(has_line(text, R"(lp_process_gpu_memory_bytes{process="worker/1",host="h2",gpus="MIG-b,MIG-c"} 4096)"))
      << text;
  EXPECT_TRUE(has_line(text, R"(lp_process_gpu_busy_ratio{process="worker/0",gpus="GPU-a"} 0.75)")) << text;
  EXPECT_EQ(values_of(text, "lp_process_gpu_memory_bytes").size(), 2U);
  EXPECT_EQ(values_of(text, "lp_process_gpu_busy_ratio").size(), 1U);  // the driver does not count a part's
}

TEST(Metrics, AreServedForThreads) {
  lp::Run run(test::make_counting({.workers = 2, .mode = "waits"}), {.metrics = "0"});
  expect_metrics(run);
}

TEST(Metrics, AreServedForProcesses) {
  const test::Directory directory;
  const test::Config config{.workers = 2, .mode = "waits"};
  LaunchOptions options = test::processes(config);
  options.metrics = "127.0.0.1:0";
  options.directory = directory.path() / "run";
  lp::Run run(test::make_counting(config), options);
  EXPECT_NE(test::contents(directory.path() / "run/run.json").find("\"metrics\":\"" + run.metrics_url() + "\""),
            std::string::npos);
  ASSERT_TRUE(run.wait_ready(std::chrono::seconds(30)));
  const std::string series =
      R"(lp_call_request_bytes_count{caller_group="worker",callee_group="counter",method="set_worker_pid"} 2)";
  const std::string text = scrape_until(run.metrics_url(), [&](const std::string& answer) {
    return has_line(answer, series) && values_of(answer, "lp_process_memory_bytes").size() == 4;
  });
  EXPECT_EQ(values_of(text, "lp_process_shared_memory_bytes").size(), 4U);
  EXPECT_EQ(text.find("host=\"\""), std::string::npos) << "a run of one host has no such label";
  expect_metrics(run);
}

TEST(Metrics, APortThatIsTakenOrMalformedEndsTheLaunch) {
  lp::Run run(test::make_counting({.workers = 1, .mode = "waits"}), {.metrics = "0"});
  const std::string url = run.metrics_url();
  const std::string port = url.substr(url.rfind(':') + 1, url.rfind('/') - url.rfind(':') - 1);
  EXPECT_NE(
      test::error_of([&] { lp::Run(test::make_counting({}), {.metrics = port}); }).find("another program has the port"),
      std::string::npos);
  const std::string malformed = test::error_of([&] { lp::Run(test::make_counting({}), {.metrics = "localhost"}); });
  EXPECT_NE(malformed.find("--metrics=localhost: \"localhost\" is no place to listen"), std::string::npos) << malformed;
}

TEST(Metrics, APortThatIsTakenLeavesNoDirectoryThatTheLaunchHasMade) {
  const test::Directory directory;
  lp::Run run(test::make_counting({.workers = 1, .mode = "waits"}), {.metrics = "0"});
  const std::string url = run.metrics_url();
  const std::string port = url.substr(url.rfind(':') + 1, url.rfind('/') - url.rfind(':') - 1);
  const auto launch_in = [&](const std::filesystem::path& place) {
    return test::error_of([&] { lp::Run(test::make_counting({}), {.directory = place, .metrics = port}); });
  };
  EXPECT_NE(launch_in(directory.path() / "new").find("another program has the port"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "new"));
  std::filesystem::create_directory(directory.path() / "old");
  EXPECT_NE(launch_in(directory.path() / "old").find("another program has the port"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(directory.path() / "old"));
}

TEST(Metrics, RestartsAreCountedWhateverTheirReason) {
  const SupervisionGraph graph = graph_of(2);
  RunStatus status;
  status.nodes = {{.name = "server", .incarnation = 1},
                  {.name = "worker/0", .incarnation = 3, .restarts = 1},  // and once on request
                  {.name = "worker/1"}};                                  // it has not started yet
  const std::string text = RunMetrics(graph).text({.status = status, .program = "test"});
  EXPECT_TRUE(has_line(text, R"(lp_node_restarts_total{group="server",node="server"} 0)")) << text;
  EXPECT_TRUE(has_line(text, R"(lp_node_restarts_total{group="worker",node="worker/0"} 2)")) << text;
  EXPECT_TRUE(has_line(text, R"(lp_node_restarts_total{group="worker",node="worker/1"} 0)")) << text;
}

TEST(Metrics, OfAThousandNodesCostTheLauncherLittle) {
  constexpr std::size_t kNodes = 1000;
  const SupervisionGraph graph = graph_of(kNodes);
  RunMetrics metrics(graph);
  RunMetrics::Picture picture;
  picture.status.nodes.resize(graph.nodes.size());
  for (NodeId node = 0; node < graph.nodes.size(); ++node) {
    picture.status.nodes[node] = {.name = graph.nodes[node].name,
                                  .state = NodeStatus::State::running,
                                  .host = "host",
                                  .values = {{"loss", 0.123456789}, {"images/s", 1e3}}};
  }
  const Time begin = now();
  for (std::size_t process = 1; process < graph.processes.size(); ++process) {
    std::vector<MeasureRecord::Calls> calls = {calls_of(graph.nodes[process].name, 1000)};
    calls.push_back(calls.front());
    calls.back().method = "pull";
    metrics.on_measured(process,
                        {.use = ProcessUse{.cpu = 12.5, .memory = 1 << 30},
                         .calls = std::move(calls),
                         .metrics = MetricSamples{.samples = {{.node = graph.nodes[process].name, .name = "a"}}}});
  }
  const Time measured = now();
  const std::string text = metrics.text(picture);
  const Time end = now();
  std::printf("1000 nodes: %zu bytes; taking all measurements %.2f ms, a scrape %.2f ms\n", text.size(),
              to_seconds(measured - begin) * 1e3, to_seconds(end - measured) * 1e3);
  EXPECT_EQ(values_of(text, "lp_calls_total").size(), 2 * kNodes);
}

}  // namespace
}  // namespace lp::launch

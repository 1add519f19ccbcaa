// A real Prometheus scrapes a run of 100 nodes for a minute: its own checker is content, all series are there, and the
// rates are those that the counters of `lp top` give.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

#include "launchers/admin/admin_client.h"
#include "launchers/control/measurement.h"
#include "launchers/run.h"
#include "lp/base/json_value.h"
#include "tests/directory.h"
#include "tests/launchers/http/http_get.h"
#include "tests/launchers/programs_for_test.h"
#include "tests/launchers/reserved_port.h"
#include "tests/launchers/subprocess.h"
#include "tests/launchers/tools_for_test.h"

namespace lp::test {
namespace {

constexpr int kScrapedWorkers = 99;
constexpr auto kScrapeTime = std::chrono::seconds(60);

class PrometheusLong : public testing::Test {
 protected:
  void SetUp() override {
    if (command("command -v prometheus promtool").code != 0) GTEST_SKIP() << "there is no prometheus";
    LaunchOptions options = processes(config_);
    options.metrics = "0";
    options.directory = files_.path() / "run";
    run_ = std::make_unique<lp::Run>(make_counting(config_), options);
    ASSERT_TRUE(run_->wait_ready(std::chrono::minutes(3)));
    const std::string url = run_->metrics_url();
    const std::size_t host = std::string("http://").size();
    std::ofstream(files_.path() / "prometheus.yml")
        << "scrape_configs:\n  - job_name: lp\n    scrape_interval: 2s\n    static_configs:\n      - targets: ["
        << url.substr(host, url.rfind('/') - host) << "]\n";
    prometheus_ = std::make_unique<Subprocess>(
        std::vector<std::string>{"--config.file=" + (files_.path() / "prometheus.yml").string(),
                                 "--storage.tsdb.path=" + (files_.path() / "data").string(),
                                 "--web.listen-address=127.0.0.1:" + std::to_string(port_.number())},
        "/usr/bin/prometheus");
    ASSERT_TRUE(prometheus_->read_until("Server is ready to receive web requests"));
  }

  // The value of a query that has one, percent-encoded already.
  double query(const std::string& text) const {
    const std::string answer =
        http_get("http://127.0.0.1:" + std::to_string(port_.number()) + "/api/v1/query?query=" + text);
    const std::string before = "\"value\":[";
    const std::size_t value = answer.find(before);
    EXPECT_NE(value, std::string::npos) << text << ": " << answer;
    if (value == std::string::npos) return -1;
    return std::strtod(answer.c_str() + answer.find(",\"", value) + 2, nullptr);
  }

  MeasureRecord measured() const {
    launch::AdminClient client(files_.path() / "run");
    client.ask(R"({"ask":"measure"})", after(std::chrono::seconds(30)));
    return from_json<MeasureRecord>(client.next(after(std::chrono::seconds(30))).value_or("nothing"));
  }

  static double calls_of(const MeasureRecord& record) {
    double calls = 0;
    for (const MeasureRecord::Calls& one : record.calls) calls += static_cast<double>(one.calls);
    return calls;
  }

  const Directory files_{};
  const Config config_{.workers = kScrapedWorkers, .mode = "calls at a pace"};
  ReservedPort port_{};
  std::unique_ptr<lp::Run> run_;
  std::unique_ptr<Subprocess> prometheus_;
};

TEST_F(PrometheusLong, SeesWhatLpTopSees) {
  const MeasureRecord before = measured();
  EXPECT_FALSE(run_->wait_for(kScrapeTime));  // it goes on
  const MeasureRecord later = measured();
  const double rate = (calls_of(later) - calls_of(before)) / (later.time - before.time);
  EXPECT_GT(rate, 10);
  EXPECT_NEAR(query("sum(rate(lp_calls_total%5B50s%5D))"), rate, rate / 5);
  EXPECT_NEAR(query("sum(rate(lp_call_request_bytes_count%5B50s%5D))"), rate, rate / 5);
  EXPECT_NEAR(query("sum(lp_calls_total)"), calls_of(later), calls_of(later) / 4);
  EXPECT_EQ(query("min_over_time(up%5B50s%5D)"), 1);
  EXPECT_EQ(query("count(lp_node_state%7Bstate=%22running%22%7D)"), kScrapedWorkers);
  EXPECT_EQ(query("count(lp_node_queue_length)"), kScrapedWorkers + 1);
  EXPECT_EQ(query("count(lp_process_memory_bytes)"), kScrapedWorkers + 2);
  EXPECT_EQ(query("sum(test_runs_total)"), kScrapedWorkers);
  EXPECT_GT(query("histogram_quantile(0.5,sum%20by%20(le)(rate(lp_call_seconds_bucket%5B50s%5D)))"), 0);
}

TEST_F(PrometheusLong, ItsCheckerIsContent) {
  const std::string answer = http_get(run_->metrics_url());
  std::ofstream(files_.path() / "metrics.txt") << answer.substr(answer.find("\r\n\r\n") + 4);
  const Ended checked = command("promtool check metrics < " + (files_.path() / "metrics.txt").string());
  EXPECT_EQ(checked.code, 0) << checked.output;
  EXPECT_EQ(checked.output, "");
}

}  // namespace
}  // namespace lp::test

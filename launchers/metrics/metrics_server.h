#pragma once
// Serves the metrics of a run at /metrics, and has its processes measured while it does.
//
// The loop thread of a run owns and uses it. Any thread may call the constructor.

#include <cstddef>
#include <string>

#include "launchers/http/http_server.h"
#include "launchers/metrics/run_metrics.h"
#include "launchers/os/event_loop.h"
#include "launchers/record/status.h"
#include "lp/base/function.h"
#include "lp/base/scheduler.h"

namespace lp::launch {

class MetricsServer {
 public:
  static constexpr Duration kMeasurePeriod = std::chrono::seconds(5);  // between two measurements

  // Throws Error when it cannot listen at `at`.
  MetricsServer(const HttpAddress& at, const std::string& program, const SupervisionGraph& graph, EventLoop& loop,
                Function<RunStatus()> status);

  std::string url() const { return url_of(server_.address()) + "/metrics"; }
  void on_measured(std::size_t process, const Measurement& part) { metrics_.on_measured(process, part); }

  // When advance() is due. It returns true when the processes are to be measured.
  Time next() const;
  bool advance(Time now);
  // All nodes are there: the next measurement is due.
  void on_ready() { next_measure_ = Time(); }
  // A cut is complete.
  void on_cut();

 private:
  HttpResponse answer(const HttpRequest& request);

  const std::string program_;
  Function<RunStatus()> status_;
  RunMetrics metrics_;
  Time next_measure_{};
  double cut_time_ = 0;
  HttpServer server_;
};

}  // namespace lp::launch

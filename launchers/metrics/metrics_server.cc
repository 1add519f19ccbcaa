#include "launchers/metrics/metrics_server.h"

#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "launchers/record/run_recorder.h"
#include "lp/base/shared_heap.h"
#include "lp/rpc/core/curve_keys.h"

namespace lp::launch {
namespace {

// A Prometheus on another host may call this one by its name.
std::vector<std::string> own_names(const HttpAddress& at) {
  return is_loopback(at.address) ? std::vector<std::string>() : std::vector<std::string>{host_name()};
}

}  // namespace

MetricsServer::MetricsServer(const HttpAddress& at, const std::string& program, const SupervisionGraph& graph,
                             EventLoop& loop, Function<RunStatus()> status)
    : program_(program),
      status_(std::move(status)),
      metrics_(graph),
      server_({.at = at, .names = own_names(at)}, loop,
              [this](HttpServer::Client, const HttpRequest& request) { return answer(request); }) {}

HttpResponse MetricsServer::answer(const HttpRequest& request) {
  if (request.path != "/metrics") return http_refusal(404, "the metrics of this run are at /metrics");
  if (request.method != "GET") return http_refusal(405, "metrics can only be read");
  const SharedHeap* const heap = SharedHeap::current();
  return {.type = "text/plain; version=0.0.4; charset=utf-8",
          .body = metrics_.text({.status = status_(),
                                 .program = program_,
                                 .launcher = use_of(getpid()),
                                 .launcher_shared = heap == nullptr ? 0 : heap->used(),
                                 .cut_time = cut_time_})};
}

Time MetricsServer::next() const { return std::min(server_.next(), next_measure_); }

bool MetricsServer::advance(Time now) {
  server_.advance(now);
  if (now < next_measure_) return false;
  next_measure_ = later(now, kMeasurePeriod);
  return true;
}

void MetricsServer::on_cut() { cut_time_ = static_cast<double>(wall_clock()) / 1e9; }

}  // namespace lp::launch

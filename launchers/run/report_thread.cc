#include "launchers/run/report_thread.h"

#include <exception>
#include <utility>

#include "lp/base/error.h"

namespace lp::internal {

void ReportThread::begin(std::function<void()> report, std::function<void(const std::optional<std::string>&)> done) {
  try {
    thread_ = spawn("report", [report = std::move(report), done] {
      std::optional<std::string> failure;
      try {
        report();
      } catch (...) {
        failure = as_error(std::current_exception()).what();
      }
      done(failure);
    });
  } catch (const Error& error) {  // no thread is left
    done(error.what());
  }
}

void ReportThread::end(Time until) {
  if (thread_.joinable() && !thread_.join_until(until)) thread_.abandon();
}

}  // namespace lp::internal

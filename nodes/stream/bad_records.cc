#include "nodes/stream/bad_records.h"

#include <exception>
#include <utility>

#include "lp/base/text.h"
#include "nodes/dataflow/file_error.h"
#include "nodes/stream/unusable.h"

namespace lp::dataflow {

FunctionError::FunctionError(const Error& error, FailureSite site)
    : Error(error), site_(std::move(site)), may_pass_(dataflow::may_pass()) {}

std::string FunctionError::location(const std::string& record) const {
  if (has_location()) return site_.location;
  if (site_.key.empty()) return record;
  return record.empty() ? "a record of " + site_.key : record + ", of " + site_.key + ",";
}

namespace {

// The exception that is being handled. Throws it again when it is not about a record.
FunctionError present_failure() {
  rethrow_file_error();
  try {
    throw;
  } catch (const Unusable&) {
    throw;
  } catch (const FunctionError& error) {
    return error;
  } catch (...) {
    const Error error = as_error(std::current_exception());
    if (error.kind() != ErrorKind::failed) throw;
    return FunctionError(error);
  }
}

}  // namespace

void BadRecords::allow(Location location, Skipped skipped, std::size_t memory) {
  location_ = std::move(location);
  skipped_ = std::move(skipped);
  memory_ = memory;
}

void BadRecords::skip(const FailureSite& site) const {
  const FunctionError error = present_failure();
  if (!allowed()) throw error;
  const std::string record = site.location.empty() ? location_() : site.location;
  const FunctionError with_key(error, {.key = site.key});
  skipped_(bad_record_text((site.key.empty() ? error : with_key).location(record), error));
}

void BadRecords::fail_late() const {
  const Error error = as_error(std::current_exception());
  if (error.kind() != ErrorKind::failed) throw;
  throw FunctionError(Error(ErrorKind::failed,
                            error.text() +
                                "; it cannot be left out, because some of what was made of it before is handed on: " +
                                "more than " + memory_text(memory_) + ", a quarter of PipelineOptions::memory",
                            error.origin()));
}

void fail_at(const FailureSite& site, const std::function<void()>& f) {
  const FunctionError error = present_failure();
  if (error.has_location()) throw;
  const bool repeats = !error.may_pass() && fails_again(f);  // f() finds the site, also of what was tried again
  if (!error.tried_again()) throw FunctionError(error, site, repeats);
  throw FunctionError(error, {.location = error.location(site.location)}, error.repeats());
}

std::string bad_record_text(const std::string& location, const Error& error) {
  const std::string& type = error.origin().type;
  return (location.empty() ? "a record" : location) + " cannot be used: " + (type.empty() ? "" : type + ": ") +
         error.text();
}

}  // namespace lp::dataflow

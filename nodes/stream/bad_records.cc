#include "nodes/stream/bad_records.h"

#include <exception>
#include <utility>

#include "lp/base/text.h"
#include "nodes/dataflow/file_error.h"

namespace lp::dataflow {

void BadRecords::allow(Location location, Skipped skipped, std::size_t memory) {
  location_ = std::move(location);
  skipped_ = std::move(skipped);
  memory_ = memory;
}

void BadRecords::skip(const std::string& location) const {
  rethrow_file_error();
  const Error error = as_error(std::current_exception());
  if (error.kind() != ErrorKind::failed) throw;
  if (!allowed()) throw FunctionError(error, location);
  skipped_(bad_record_text(location.empty() ? location_() : location, error));
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

std::string bad_record_text(const std::string& location, const Error& error) {
  const std::string& type = error.origin().type;
  return (location.empty() ? "a record" : location) + " cannot be used: " + (type.empty() ? "" : type + ": ") +
         error.text();
}

}  // namespace lp::dataflow

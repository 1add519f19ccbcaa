#include "nodes/stream/bad_records.h"

#include <exception>
#include <utility>

namespace lp::dataflow {

void BadRecords::allow(Place place, Skipped skipped) {
  place_ = std::move(place);
  skipped_ = std::move(skipped);
}

void BadRecords::skip() const {
  const Error error = as_error(std::current_exception());
  if (error.kind() != ErrorKind::failed) throw;
  if (!allowed()) throw FunctionError(error);
  skipped_(bad_record_text(place_(), error));
}

std::string bad_record_text(const std::string& place, const Error& error) {
  const std::string& type = error.origin().type;
  return (place.empty() ? "a record" : place) + " cannot be used: " + (type.empty() ? "" : type + ": ") + error.text();
}

}  // namespace lp::dataflow

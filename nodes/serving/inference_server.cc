#include "nodes/serving/inference_server.h"

namespace lp {

Error wrong_number_of_replies(std::uint64_t version, std::size_t replies, std::size_t requests) {
  return Error(ErrorKind::failed, "version " + std::to_string(version) + " of the model returned " +
                                      std::to_string(replies) + " replies for " + std::to_string(requests) +
                                      " requests: return one reply for each request");
}

Error reply_is_not_finite(std::uint64_t version) {
  return Error(ErrorKind::failed, "the reply of version " + std::to_string(version) +
                                      " of the model has a number that is not finite: check the numbers of the request "
                                      "and the parameters of the model");
}

Error version_did_not_come(std::uint64_t demanded, const ServingStatistics& statistics) {
  const std::string present = statistics.versions == 0 ? "the server has no version yet"
                                                       : "the server has " + std::to_string(statistics.version);
  const std::string problem =
      statistics.problem.empty() ? "" : "; the last attempt to load one failed: " + statistics.problem;
  const std::string version = demanded == 0 ? "a version" : "version " + std::to_string(demanded) + " or a newer one";
  return Error(ErrorKind::overloaded, version + " was not available in time: " + present + problem);
}

Error shed_late() {
  return Error(
      ErrorKind::overloaded,
      "an answer would come too late, because batches take longer than before: try again later, or allow more time");
}

}  // namespace lp

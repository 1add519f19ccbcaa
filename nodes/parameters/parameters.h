#pragma once
// What parameter servers hold, read from outside their workers: by a report, an evaluator, a checkpointer, a test. A
// reader holds nobody up. Values; functions for any thread that may call the servers.

#include <cstdint>

#include <Eigen/Core>

#include "lp/rpc/clients.h"
#include "nodes/parameters/parameter_server.h"

namespace lp {

// All parameters, and after how many updates.
struct Parameters {
  std::uint64_t step = 0;
  Eigen::VectorXf values{};
};

// The newest version that all servers of a synchronous training have. Error::disconnected when they have none in
// common, as while they are being restored: ask again.
Parameters latest_parameters(const Clients<ParameterServer>& servers);
// What each server has of a tensor now, whatever the others have, and the fewest updates of a server. From the replica
// of one that is gone, if it has one.
Parameters present_parameters(const Clients<ParameterServer>& servers, std::uint32_t tensor = 0);
// The same of `size` parameters, of all tensors in their order.
Parameters all_parameters(const Clients<ParameterServer>& servers, Eigen::Index size);

}  // namespace lp

#pragma once
// Reads the parameters of parameter servers from outside their workers: for a report, an evaluator, a checkpointer, a
// test. A reader delays nobody. Values; functions for any thread that may call the servers.

#include <cstdint>

#include <Eigen/Core>

#include "lp/rpc/clients.h"
#include "nodes/parameters/parameter_server.h"

namespace lp {

// All parameters, and the number of updates that they have had.
struct Parameters {
  std::uint64_t step = 0;
  Eigen::VectorXf values{};
};

// The newest version that all servers of a synchronous training have. Error::disconnected when they have none in
// common, as while they are being restored: call again.
Parameters latest_parameters(const Clients<ParameterServer>& servers);
// The newest version of a tensor that all servers have. In a training that is not synchronous they may have none in
// common: then the present values at each server, and the fewest updates of a server. If a server is gone, its replica
// is read, if it has one.
Parameters present_parameters(const Clients<ParameterServer>& servers, std::uint32_t tensor = 0);
// The same for all tensors in their order, `size` parameters together, and the step of the first. The tensors are read
// one after the other. Error::failed if the servers have fewer parameters.
Parameters all_parameters(const Clients<ParameterServer>& servers, Eigen::Index size);

}  // namespace lp

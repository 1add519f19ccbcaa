#include "nodes/parameters/parameters.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "lp/rpc/core/future.h"

namespace lp {
namespace {

// Joins the shards of a dense tensor; values(shard) gives the values of one.
template <class Values>
Parameters joined(const std::vector<ShardVersions>& shards, std::uint64_t step, Values values) {
  Eigen::Index size = 0;
  for (const ShardVersions& one : shards) size += static_cast<Eigen::Index>(one.newest.size());
  Parameters out{.step = step, .values = Eigen::VectorXf(size)};
  for (const ShardVersions& one : shards) {
    const float* from = values(one).data();
    const std::uint64_t width = one.ranges.empty() ? 1 : one.newest.size() / key_count(one.ranges);
    for (const KeyRange& range : one.ranges) {
      const auto count = static_cast<std::ptrdiff_t>((range.last - range.begin + 1) * width);
      std::copy(from, from + count, out.values.data() + range.begin * width);
      from += count;
    }
  }
  return out;
}

// The versions of all shards at about one time. If a server is gone, its replica has them.
std::vector<ShardVersions> versions_of(const Clients<ParameterServer>& servers, std::uint32_t tensor) {
  std::vector<Future<ShardVersions>> futures;
  for (std::uint32_t shard = 0; shard < servers.size(); ++shard) {
    futures.push_back(servers[shard].async<&ParameterServer::versions>(tensor, shard));
  }
  std::vector<ShardVersions> all;
  for (std::uint32_t shard = 0; shard < servers.size(); ++shard) {
    try {
      all.push_back(futures[shard].get());
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::disconnected) throw;
      all.push_back(servers[(shard + 1) % servers.size()].call<&ParameterServer::versions>(tensor, shard));
    }
  }
  return all;
}

}  // namespace

Parameters latest_parameters(const Clients<ParameterServer>& servers) {
  std::vector<Future<ShardVersions>> futures;
  for (std::uint32_t shard = 0; shard < servers.size(); ++shard) {
    futures.push_back(servers[shard].async<&ParameterServer::versions>(0, shard));
  }
  const std::vector<ShardVersions> all = when_all(std::move(futures)).get();
  const std::uint64_t step = common_step(all);
  return joined(all, step, [step](const ShardVersions& one) -> const Array<float>& { return one.at(step); });
}

Parameters present_parameters(const Clients<ParameterServer>& servers, std::uint32_t tensor) {
  constexpr int kAttempts = 3;  // an asynchronous training has a common step by chance only
  for (int attempt = 1;; ++attempt) {
    std::vector<ShardVersions> all = versions_of(servers, tensor);
    std::erase_if(all, [](const ShardVersions& one) { return one.newest.empty(); });
    if (const std::optional<std::uint64_t> step = find_common_step(all)) {
      return joined(all, *step, [&](const ShardVersions& one) -> const Array<float>& { return one.at(*step); });
    }
    if (attempt < kAttempts) continue;
    std::uint64_t least = kUnbounded;
    for (const ShardVersions& one : all) least = std::min(least, one.step);
    return joined(all, least, [](const ShardVersions& one) -> const Array<float>& { return one.newest; });
  }
}

Parameters all_parameters(const Clients<ParameterServer>& servers, Eigen::Index size) {
  Parameters out = present_parameters(servers);
  for (std::uint32_t tensor = 1; out.values.size() < size; ++tensor) {
    const Eigen::VectorXf before = std::move(out.values);
    const Eigen::VectorXf more = present_parameters(servers, tensor).values;
    if (more.size() == 0) {
      throw Error(ErrorKind::failed,
                  "the servers have " + std::to_string(before.size()) + " parameters, not " + std::to_string(size));
    }
    out.values.resize(before.size() + more.size());
    out.values << before, more;
  }
  out.values.conservativeResize(size);  // a last row may be longer than the values that it holds
  return out;
}

}  // namespace lp

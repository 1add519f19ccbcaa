#include "nodes/parameters/partition.h"

#include <algorithm>
#include <string>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/hash.h"

namespace lp {
namespace {

__extension__ using Wide = unsigned __int128;

// The first key at or after a position on the ring.
Wide key_at(std::uint64_t place, Wide keys) { return (place * keys + ~std::uint64_t{0}) >> 64; }

}  // namespace

Partition::Partition(std::uint32_t servers) : ranges_(servers) {
  if (servers == 0) throw Error(ErrorKind::failed, "keys are split over 0 servers: give at least one");
}

void Partition::add(KeyRange keys, std::uint32_t server) {
  if (!segments_.empty() && segments_.back().server == server) {
    segments_.back().keys.last = keys.last;
    ranges_[server].back().last = keys.last;
    return;
  }
  segments_.push_back({keys, server});
  ranges_[server].push_back(keys);
}

Partition Partition::ring(std::uint64_t keys, std::uint32_t servers, std::uint32_t virtual_nodes) {
  Partition out(servers);
  if (virtual_nodes == 0) throw Error(ErrorKind::failed, "servers have 0 virtual nodes on the ring: give at least one");
  std::vector<std::pair<std::uint64_t, std::uint32_t>> places;
  places.reserve(std::size_t{servers} * virtual_nodes);
  for (std::uint32_t server = 0; server < servers; ++server) {
    for (std::uint32_t k = 0; k < virtual_nodes; ++k) places.emplace_back(hash_combine(mix64(server), k), server);
  }
  std::sort(places.begin(), places.end());
  const Wide end = keys == 0 ? Wide{1} << 64 : Wide{keys};
  Wide begin = 0;
  std::uint32_t owner = places.back().second;  // owns the keys before the first position: the ring is closed
  const auto close = [&](Wide until) {
    if (until > begin) out.add({static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(until - 1)}, owner);
    begin = std::max(begin, until);
  };
  for (const auto& [place, server] : places) {
    close(key_at(place, end));
    owner = server;
  }
  close(end);
  return out;
}

Partition Partition::slices(std::uint64_t keys, std::uint32_t servers) {
  Partition out(servers);
  const Wide end = keys == 0 ? Wide{1} << 64 : Wide{keys};
  for (std::uint32_t server = 0; server < servers; ++server) {
    const Wide begin = end * server / servers;
    const Wide until = end * (server + 1) / servers;
    if (until > begin) out.add({static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(until - 1)}, server);
  }
  return out;
}

Partition Partition::whole(std::uint64_t keys, std::uint32_t servers, std::uint32_t owner) {
  Partition out(servers);
  if (owner >= servers) {
    throw Error(ErrorKind::failed, "server " + std::to_string(owner) + " of " + std::to_string(servers) +
                                       " would own a tensor: servers count from 0");
  }
  out.add({0, keys - 1}, owner);
  return out;
}

std::uint32_t Partition::owner(std::uint64_t key) const {
  const auto after = std::partition_point(segments_.begin(), segments_.end(),
                                          [key](const Segment& segment) { return segment.keys.last < key; });
  if (after == segments_.end()) throw Error(ErrorKind::failed, "no server owns key " + std::to_string(key));
  return after->server;
}

std::uint64_t key_count(std::span<const KeyRange> ranges) {
  std::uint64_t count = 0;
  for (const KeyRange& range : ranges) count += range.last - range.begin + 1;
  if (count == 0 && !ranges.empty()) {
    throw Error(ErrorKind::failed,
                "a server would hold every 64-bit key of a tensor: give the number of keys, or make the tensor sparse");
  }
  return count;
}

}  // namespace lp

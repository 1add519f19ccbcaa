#include "programs/data/batches.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <string>

#include "lp/base/error.h"
#include "lp/base/random.h"

namespace lp {

Batches::Batches(std::uint32_t examples, std::uint32_t batch, std::uint64_t seed)
    : batch_(batch), seed_(seed), epoch_(std::numeric_limits<std::uint64_t>::max()), order_(examples) {
  if (examples == 0 || batch == 0) {
    throw Error(ErrorKind::failed, "batches of " + std::to_string(batch) + " from " + std::to_string(examples) +
                                       " examples: both must be at least 1");
  }
}

void Batches::order(std::uint64_t epoch) {
  if (epoch == epoch_) return;
  std::iota(order_.begin(), order_.end(), 0U);
  Random(seed_, "batches", epoch).shuffle(std::span(order_));
  epoch_ = epoch;
}

std::vector<std::uint32_t> Batches::shard(std::uint64_t step, std::uint32_t worker, std::uint32_t workers) {
  if (worker >= workers) {
    throw Error(ErrorKind::failed,
                "shard " + std::to_string(worker) + " of " + std::to_string(workers) + ": shards count from 0");
  }
  const std::uint64_t first = step * batch_ + std::uint64_t{batch_} * worker / workers;
  const std::uint64_t last = step * batch_ + std::uint64_t{batch_} * (worker + 1) / workers;
  std::vector<std::uint32_t> out;
  out.reserve(last - first);
  for (std::uint64_t position = first; position < last; ++position) {
    order(position / order_.size());
    out.push_back(order_[position % order_.size()]);
  }
  return out;
}

std::vector<std::uint32_t> Batches::epoch_batch(std::uint64_t step) {
  order(step / epoch_steps());
  const std::span<const std::uint32_t> all(order_);
  const std::size_t first = step % epoch_steps() * batch_;
  const std::span<const std::uint32_t> out = all.subspan(first, std::min<std::size_t>(batch_, all.size() - first));
  return {out.begin(), out.end()};
}

}  // namespace lp

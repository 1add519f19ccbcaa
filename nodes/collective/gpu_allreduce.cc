// Sums of arrays on GPUs: NCCL's where the GPUs of all ranks can have it.

#include <cstring>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lp/base/hash.h"
#include "nodes/collective/collective.h"
#include "nodes/collective/gpu_group.h"

namespace lp {
namespace {

// Text as values: its size, and its bytes.
Array<float> packed(std::string_view text) {
  const std::uint64_t size = text.size();
  std::vector<float> values((sizeof size + text.size() + sizeof(float) - 1) / sizeof(float));
  auto* const to = reinterpret_cast<char*>(values.data());
  std::memcpy(to, &size, sizeof size);
  text.copy(to + sizeof size, text.size());
  return Array<float>::copy_of(values);
}
std::string unpacked(const Array<float>& values) {
  const std::string_view bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  std::uint64_t size = bytes.size();
  if (bytes.size() >= sizeof size) std::memcpy(&size, bytes.data(), sizeof size);
  if (bytes.size() < sizeof size || size > bytes.size() - sizeof size) throw_failed("a rank's text has lost its end");
  return std::string(bytes.substr(sizeof size, size));
}

// What the GPU of a rank can do, and if it is nothing, why.
struct GpuOffer {
  std::int32_t nccl = 0;  // its version; 0: none
  std::uint64_t gpu = 0;  // different for different GPUs
  std::string obstacle{};

  std::string text() const {
    std::string bytes(sizeof nccl + sizeof gpu, '\0');
    std::memcpy(bytes.data(), &nccl, sizeof nccl);
    std::memcpy(bytes.data() + sizeof nccl, &gpu, sizeof gpu);
    return bytes + obstacle;
  }
  static GpuOffer from(const std::string& text) {
    GpuOffer offer;
    if (text.size() < sizeof nccl + sizeof gpu) throw_failed("a rank's offer of a GPU has lost its end");
    std::memcpy(&offer.nccl, text.data(), sizeof offer.nccl);
    std::memcpy(&offer.gpu, text.data() + sizeof offer.nccl, sizeof offer.gpu);
    offer.obstacle = text.substr(sizeof nccl + sizeof gpu);
    return offer;
  }
};

std::string rank_text(std::size_t rank) { return "rank " + std::to_string(rank); }

// Why these cannot sum by NCCL; empty: they can.
std::string obstacle_among(std::span<const GpuOffer> offers) {
  std::set<std::uint64_t> gpus;
  for (std::size_t rank = 0; rank < offers.size(); ++rank) {
    const GpuOffer& one = offers[rank];
    if (one.nccl == 0) return rank_text(rank) + ": " + one.obstacle;
    if (one.nccl != offers[0].nccl) {
      return rank_text(0) + " has NCCL " + gpu::Nccl::version_text(offers[0].nccl) + ", and " + rank_text(rank) +
             " has " + gpu::Nccl::version_text(one.nccl) + ": install the same on all hosts";
    }
    if (!gpus.insert(one.gpu).second) {
      return rank_text(rank) + " shares its GPU with another rank: NCCL wants one for each";
    }
  }
  return {};
}

}  // namespace

// All ranks come to the same answer, because they decide by what all of them have sent.
void Collective::form_gpu_group(cuda::Stream& stream) {
  GpuOffer offer{.gpu = stream.way_out()->device()->place()};
  std::optional<gpu::Nccl> nccl;
  try {
    if (options_.nccl.empty()) throw_failed("CollectiveOptions::nccl names no library");
    nccl.emplace(options_.nccl);
    offer.nccl = nccl->version();
  } catch (const Error& error) {
    offer.obstacle = error.text();
  }
  std::vector<GpuOffer> offers;
  for (const Array<float>& one : all_gather(packed(offer.text()))) offers.push_back(GpuOffer::from(unpacked(one)));
  gpu_obstacle_ = obstacle_among(offers);
  if (!gpu_obstacle_.empty()) return;

  std::string name;  // that of the communicator; otherwise the reason why there is none
  if (rank_ == 0) {
    try {
      const gpu::Nccl::Id id = nccl->make_id();
      name.assign(id.begin(), id.end());
    } catch (const Error& error) {
      name = rank_text(0) + ": " + error.text();
    }
  }
  name = unpacked(broadcast(packed(name), 0));
  gpu::Nccl::Id id{};
  if (name.size() == id.size()) {
    name.copy(id.data(), id.size());
    gpu_obstacle_ = form_gpu_group(*nccl, id, stream);
  } else {
    gpu_obstacle_ = name;
  }
}

// Returns the reason if a rank cannot. Then no rank does.
std::string Collective::form_gpu_group(const gpu::Nccl& nccl, const gpu::Nccl::Id& id, cuda::Stream& stream) {
  const Operation formed = begin(Operation::Kind::all_gather, 0);
  std::vector<std::optional<std::string>> reasons(ranks_);  // empty: that rank is ready
  std::string obstacle;
  const auto read = [&](std::uint32_t rank) {
    reasons[rank] = unpacked(receive(rank, formed));
    if (obstacle.empty()) obstacle = *reasons[rank];
  };
  gpu_group_ = std::make_unique<GpuGroup>([this] { check_members(); });
  try {
    gpu_group_->form(nccl, id, rank_, ranks_, stream, [&] {
      for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        if (rank != rank_ && !reasons[rank] && has_sent(rank)) read(rank);
        if (!obstacle.empty()) throw_failed(obstacle);  // NCCL would wait for that rank
      }
    });
  } catch (const Error& error) {
    gpu_group_.reset();
    if (error.kind() != ErrorKind::failed) {
      failure_ = error.what();
      throw;
    }
    if (obstacle.empty()) obstacle = rank_text(rank_) + ": " + error.text();
  }
  send_to_others(formed, packed(obstacle));
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    if (rank != rank_ && !reasons[rank]) read(rank);
  }
  if (!obstacle.empty()) gpu_group_.reset();
  return obstacle;
}

// A size that differs is found before NCCL begins, which would not notice it.
void Collective::agree(const Operation& operation) {
  ++statistics_.steps;
  send_to_others(operation, {});
  for (std::uint32_t i = 1; i < ranks_; ++i) receive((rank_ + i) % ranks_, operation, 0);
}

void Collective::allreduce(std::span<cuda::Array<float>> arrays, cuda::Stream& stream) {
  check_joined();
  if (ranks_ == 1) return;
  if (!std::exchange(gpus_were_asked_, true)) form_gpu_group(stream);
  if (gpu_group_ == nullptr) {
    std::vector<Array<float>> values(arrays.begin(), arrays.end());
    allreduce(values);
    for (std::size_t i = 0; i < arrays.size(); ++i) arrays[i] = std::move(values[i]);
    return;
  }
  // Memory comes first: a rank that has not enough must fail before the others wait for it.
  std::vector<cuda::Array<float>> sums;
  std::vector<GpuGroup::Sum> work;
  std::size_t size = 0;
  std::uint64_t sizes = fnv1a("on GPUs");
  for (const cuda::Array<float>& one : arrays) {
    const float* const from = one.on(stream);
    sums.push_back(cuda::Array<float>::make(
        stream, one.size(), [&](float* to) { work.push_back({.from = from, .to = to, .size = one.size()}); }));
    size += one.size();
    sizes = hash_combine(sizes, one.size());
  }
  agree(begin(Operation::Kind::allreduce, size, sizes));
  try {
    gpu_group_->sum(work, stream);
  } catch (const Error& error) {
    failure_ = error.what();
    if (error.kind() != ErrorKind::disconnected) leave(failure_);  // the others live, and know nothing of it
    throw;
  }
  std::move(sums.begin(), sums.end(), arrays.begin());
}

}  // namespace lp

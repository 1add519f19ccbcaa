// A stand-in for libnccl.so.2, whose ranks are threads of one process, and whose GPUs have memory of the host. As NCCL
// does, it waits for a missing rank until it is aborted. It is compiled as several versions.

#include "tests/lp/gpu/nccl_stand_in.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace {

enum Code { success = 0, invalid_argument = 4, in_progress = 7 };

struct Id {
  std::array<char, 128> bytes;
};

// What the ranks of a communicator share.
struct Shared {
  std::mutex mutex{};
  int ranks = 0;
  int joined = 0;
  std::map<std::size_t, std::map<int, std::vector<float>>> given{};  // by sum and rank
  std::atomic<unsigned> news = 0;

  void notify() {
    ++news;
    news.notify_all();
  }
};

struct Communicator {
  std::shared_ptr<Shared> shared{};
  int rank = 0;
  std::size_t sums = 0;
  std::shared_ptr<std::atomic<bool>> aborted = std::make_shared<std::atomic<bool>>(false);
};

struct Configuration {
  std::size_t size;
  unsigned magic, version;
  int blocking;
};

lp::test::NcclStandIn hooks;
std::mutex mutex;
std::map<std::array<char, 128>, std::shared_ptr<Shared>> communicators;
char next_id = 0;

int on_call(const char* function, int rank) { return hooks.on_call ? hooks.on_call(function, rank) : success; }

// The work of one rank in its stream.
void sum(const Communicator& here, std::size_t number, const float* from, float* to, std::size_t size) {
  Shared& shared = *here.shared;
  std::unique_lock lock(shared.mutex);
  auto& given = shared.given[number];
  given[here.rank].assign(from, from + size);
  shared.notify();
  while (given.size() < static_cast<std::size_t>(shared.ranks)) {
    if (*here.aborted) return;
    const unsigned seen = shared.news;
    lock.unlock();
    shared.news.wait(seen);
    lock.lock();
  }
  std::vector<float> total = given.begin()->second;
  for (auto one = std::next(given.begin()); one != given.end(); ++one) {
    for (std::size_t i = 0; i < size; ++i) total[i] += one->second.at(i);
  }
  std::copy(total.begin(), total.end(), to);
}

}  // namespace

extern "C" {

void nccl_stand_in(const lp::test::NcclStandIn* given) { hooks = *given; }

int ncclGetVersion(int* version) {
  *version = NCCL_STAND_IN_VERSION;
  return success;
}
const char* ncclGetErrorString(int code) { return code == success ? "no error" : "a mistake of the stand-in"; }
const char* ncclGetLastError(Communicator*) { return ""; }
int ncclGetUniqueId(Id* id) {
  const std::lock_guard lock(mutex);
  *id = {};
  id->bytes[0] = ++next_id;
  communicators[id->bytes] = std::make_shared<Shared>();
  return on_call("ncclGetUniqueId", -1);
}
#ifndef NCCL_STAND_IN_WITHOUT_INIT
int ncclCommInitRankConfig(Communicator** made, int ranks, Id id, int rank, Configuration* configuration) {
  *made = nullptr;
  if (configuration->magic != 0xcafebeef || configuration->size < sizeof(Configuration) ||
      configuration->blocking != 0) {
    return invalid_argument;
  }
  if (const int code = on_call("ncclCommInitRankConfig", rank); code != success) return code;
  std::shared_ptr<Shared> shared;
  {
    const std::lock_guard lock(mutex);
    shared = communicators.at(id.bytes);
  }
  *made = new Communicator{.shared = shared, .rank = rank};
  const std::lock_guard lock(shared->mutex);
  shared->ranks = ranks;
  ++shared->joined;
  return in_progress;
}
#endif
int ncclCommGetAsyncError(Communicator* here, int* state) {
  const std::lock_guard lock(here->shared->mutex);
  *state = on_call("ncclCommGetAsyncError", here->rank);
  if (*state == success && here->shared->joined < here->shared->ranks) *state = in_progress;
  return success;
}
int ncclAllReduce(const void* from, void* to, std::size_t size, int type, int operation, Communicator* here,
                  void* stream) {
  constexpr int kFloat = 7;
  constexpr int kSum = 0;
  if (type != kFloat || operation != kSum) return invalid_argument;
  if (const int code = on_call("ncclAllReduce", here->rank); code != success) return code;
  hooks.put(stream, [rank = *here, number = here->sums++, from, to, size] {
    sum(rank, number, static_cast<const float*>(from), static_cast<float*>(to), size);
  });
  return success;
}
int ncclCommFinalize(Communicator*) { return success; }
int ncclCommDestroy(Communicator* here) {
  const int code = on_call("ncclCommDestroy", here->rank);
  delete here;
  return code;
}
int ncclCommAbort(Communicator* here) {
  const int code = on_call("ncclCommAbort", here->rank);
  const std::shared_ptr<Shared> shared = here->shared;
  *here->aborted = true;
  shared->notify();
  delete here;
  return code;
}
}

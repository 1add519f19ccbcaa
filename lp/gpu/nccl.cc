#include "lp/gpu/nccl.h"

#include <cstdint>
#include <utility>

#include "lp/base/error.h"
#include "lp/gpu/shared_library.h"

namespace lp::gpu {
namespace {

// The binary interface of libnccl.so.2, which NVIDIA keeps: names, numbers and layouts of its documentation.
struct NcclId {
  Nccl::Id bytes;
};
// The configuration of NCCL 2.14. Later versions add fields, and take this size as that version's.
struct NcclConfiguration {
  std::size_t size = sizeof(NcclConfiguration);
  std::uint32_t magic = 0xcafebeef;
  std::uint32_t version = Nccl::kOldest;
  int blocking = 0;
};
static_assert(sizeof(NcclConfiguration) == 24);

constexpr int kNcclSuccess = 0;
constexpr int kNcclSystemError = 2;  // a call of the system, such as one of a socket, has failed
constexpr int kNcclRemoteError = 6;
constexpr int kNcclInProgress = 7;
constexpr int kNcclFloat = 7;
constexpr int kNcclSum = 0;

}  // namespace

struct NcclFunctions {
  explicit NcclFunctions(const std::string& library) : file(library, SharedLibrary::Unload::never) {
    file.get("ncclGetVersion", version);
    file.get("ncclGetErrorString", error_string);
  }
  // Those that only versions from kOldest on have.
  void find() {
    file.find("ncclGetLastError", last_error);
    file.get("ncclGetUniqueId", unique_id);
    file.get("ncclCommInitRankConfig", init);
    file.get("ncclCommGetAsyncError", state);
    file.get("ncclAllReduce", all_reduce);
    file.get("ncclCommFinalize", finalize);
    file.get("ncclCommDestroy", destroy);
    file.get("ncclCommAbort", abort);
  }

  // The communicator may be null.
  void check(int code, const char* function, NcclCommunicator* communicator) const {
    if (code == kNcclSuccess || code == kNcclInProgress) return;
    std::string text = std::string("NCCL: ") + function + ": " + error_string(code);
    const char* more = last_error == nullptr ? nullptr : last_error(communicator);
    if (more != nullptr && *more != '\0') text += std::string(" (") + more + ")";
    const bool remote = code == kNcclSystemError || code == kNcclRemoteError;
    throw Error(remote ? ErrorKind::disconnected : ErrorKind::failed, std::move(text));
  }

  SharedLibrary file;
  int (*version)(int*) = nullptr;
  const char* (*error_string)(int) = nullptr;
  const char* (*last_error)(NcclCommunicator*) = nullptr;  // null: the library has no further text
  int (*unique_id)(NcclId*) = nullptr;
  int (*init)(NcclCommunicator**, int, NcclId, int, NcclConfiguration*) = nullptr;
  int (*state)(NcclCommunicator*, int*) = nullptr;
  int (*all_reduce)(const void*, void*, std::size_t, int, int, NcclCommunicator*, void*) = nullptr;
  int (*finalize)(NcclCommunicator*) = nullptr;
  int (*destroy)(NcclCommunicator*) = nullptr;
  int (*abort)(NcclCommunicator*) = nullptr;
};

Nccl::Nccl(const std::string& library) {
  auto functions = std::make_shared<NcclFunctions>(library);
  functions->check(functions->version(&version_), "ncclGetVersion", nullptr);
  if (version_ < kOldest) {
    throw_failed(library + " is NCCL " + version_text(version_) + ": install " + version_text(kOldest) +
                 " or a newer one");
  }
  functions->find();
  functions_ = std::move(functions);
}

std::string Nccl::version_text(int version) {
  const int major = version < 10000 ? 1000 : 10000;  // 2804 is 2.8.4, and 20900 is 2.9.0
  return std::to_string(version / major) + "." + std::to_string(version % major / 100) + "." +
         std::to_string(version % 100);
}

Nccl::Id Nccl::make_id() const {
  NcclId id{};
  functions_->check(functions_->unique_id(&id), "ncclGetUniqueId", nullptr);
  return id.bytes;
}

NcclRank::NcclRank(const Nccl& nccl, const Nccl::Id& id, int rank, int ranks) : functions_(nccl.functions_) {
  NcclConfiguration configuration;
  const int code = functions_->init(&communicator_, ranks, NcclId{id}, rank, &configuration);
  try {
    check(code, "ncclCommInitRankConfig");
  } catch (const Error&) {
    abort();
    throw;
  }
}

NcclRank::~NcclRank() {
  if (communicator_ == nullptr) return;
  int state = kNcclInProgress;
  if (finishes_ && functions_->state(communicator_, &state) == kNcclSuccess && state == kNcclSuccess) {
    functions_->destroy(communicator_);
  } else {
    abort();
  }
}

void NcclRank::check(int code, const char* function) const { functions_->check(code, function, communicator_); }

bool NcclRank::busy() const {
  const std::lock_guard lock(mutex_);
  if (communicator_ == nullptr) throw Error(ErrorKind::disconnected, "NCCL: the communicator was aborted");
  int state = kNcclSuccess;
  check(functions_->state(communicator_, &state), "ncclCommGetAsyncError");
  check(state, "the communicator");
  return state == kNcclInProgress;
}

void NcclRank::sum(const float* from, float* to, std::size_t size, void* stream) {
  const std::lock_guard lock(mutex_);
  if (communicator_ == nullptr) throw Error(ErrorKind::disconnected, "NCCL: the communicator was aborted");
  check(functions_->all_reduce(from, to, size, kNcclFloat, kNcclSum, communicator_, stream), "ncclAllReduce");
}

void NcclRank::finish() {
  const std::lock_guard lock(mutex_);
  if (communicator_ == nullptr) return;
  check(functions_->finalize(communicator_), "ncclCommFinalize");
  finishes_ = true;
}

void NcclRank::abort() noexcept {
  const std::lock_guard lock(mutex_);
  if (communicator_ != nullptr) functions_->abort(std::exchange(communicator_, nullptr));
}

}  // namespace lp::gpu

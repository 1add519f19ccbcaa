#include "lp/gpu/nvml.h"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "lp/base/error.h"
#include "lp/gpu/shared_library.h"

namespace lp::gpu {
namespace {

// The binary interface of libnvidia-ml.so.1, which NVIDIA keeps: names, numbers and layouts of its documentation.
struct NvmlDevice;
struct NvmlEvents;
struct NvmlMemory {
  unsigned long long total, free, used;
};
struct NvmlUtilization {
  unsigned gpu, memory;
};
struct NvmlProcess {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};
struct NvmlEvent {
  NvmlDevice* device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};

constexpr int kSuccess = 0;
constexpr int kInsufficientSize = 7;
constexpr unsigned kMigEnabled = 1;
constexpr int kPeersRead = 0;  // the ability that nvmlDeviceGetP2PStatus is asked for
constexpr int kPeersOk = 0;
constexpr unsigned long long kXidEvents = 8;
constexpr unsigned long long kUnknownMemory = ~0ULL;
constexpr std::size_t kLongestText = 96;  // NVML's names and UUIDs are shorter

}  // namespace

struct Nvml::Library {
  explicit Library(const std::string& path);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  struct Device {
    NvmlDevice* handle = nullptr;
    NvmlDevice* whole = nullptr;  // the GPU of which it is a part; itself when it is whole
    std::string uuid{};
  };

  void check(int code, const char* what) const;
  void find_functions();
  void find_gpus();
  void add(NvmlDevice* device, NvmlDevice* whole);
  std::vector<NvmlDevice*> parts_of(NvmlDevice* device) const;
  const Device* find(const std::string& uuid) const;

  SharedLibrary file;
  std::string driver{};
  int cuda = 0;
  std::vector<Gpu> gpus{};
  std::vector<Device> devices{};
  NvmlEvents* events = nullptr;  // null: the driver reports none
  std::deque<GpuFault> faults{};

  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*cuda_version)(int*) = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*by_index)(unsigned, NvmlDevice**) = nullptr;
  int (*uuid_of)(NvmlDevice*, char*, unsigned) = nullptr;
  int (*name_of)(NvmlDevice*, char*, unsigned) = nullptr;
  int (*memory)(NvmlDevice*, NvmlMemory*) = nullptr;
  int (*utilization)(NvmlDevice*, NvmlUtilization*) = nullptr;
  int (*processes)(NvmlDevice*, unsigned*, NvmlProcess*) = nullptr;
  int (*mig_mode)(NvmlDevice*, unsigned*, unsigned*) = nullptr;
  int (*most_parts)(NvmlDevice*, unsigned*) = nullptr;
  int (*part)(NvmlDevice*, unsigned, NvmlDevice**) = nullptr;
  int (*peer_status)(NvmlDevice*, NvmlDevice*, int, int*) = nullptr;
  int (*make_events)(NvmlEvents**) = nullptr;
  int (*register_events)(NvmlDevice*, unsigned long long, NvmlEvents*) = nullptr;
  int (*wait_event)(NvmlEvents*, NvmlEvent*, unsigned) = nullptr;
  int (*free_events)(NvmlEvents*) = nullptr;
};

Nvml::Library::Library(const std::string& path) : file(path) {
  find_functions();
  check(init(), "nvmlInit");
  try {
    std::array<char, kLongestText> text{};
    check(driver_version(text.data(), text.size()), "nvmlSystemGetDriverVersion");
    driver = text.data();
    check(cuda_version(&cuda), "nvmlSystemGetCudaDriverVersion");
    find_gpus();
  } catch (...) {
    shutdown();
    throw;
  }
}

Nvml::Library::~Library() {
  if (events != nullptr) free_events(events);
  shutdown();
}

void Nvml::Library::find_functions() {
  file.get("nvmlInit_v2", init);
  file.get("nvmlShutdown", shutdown);
  file.get("nvmlErrorString", error_string);
  file.get("nvmlSystemGetDriverVersion", driver_version);
  file.get("nvmlSystemGetCudaDriverVersion", cuda_version);
  file.get("nvmlDeviceGetCount_v2", count);
  file.get("nvmlDeviceGetHandleByIndex_v2", by_index);
  file.get("nvmlDeviceGetUUID", uuid_of);
  file.get("nvmlDeviceGetName", name_of);
  file.get("nvmlDeviceGetMemoryInfo", memory);
  file.get("nvmlDeviceGetUtilizationRates", utilization);
  file.find("nvmlDeviceGetComputeRunningProcesses_v3", processes);
  file.find("nvmlDeviceGetMigMode", mig_mode);
  file.find("nvmlDeviceGetMaxMigDeviceCount", most_parts);
  file.find("nvmlDeviceGetMigDeviceHandleByIndex", part);
  file.find("nvmlDeviceGetP2PStatus", peer_status);
  file.find("nvmlEventSetCreate", make_events);
  file.find("nvmlDeviceRegisterEvents", register_events);
  file.find("nvmlEventSetWait_v2", wait_event);
  file.find("nvmlEventSetFree", free_events);
}

void Nvml::Library::check(int code, const char* what) const {
  if (code != kSuccess) throw_failed(std::string("NVML: ") + what + ": " + error_string(code));
}

void Nvml::Library::find_gpus() {
  unsigned number = 0;
  check(count(&number), "nvmlDeviceGetCount");
  const bool reports = make_events != nullptr && register_events != nullptr && wait_event != nullptr &&
                       free_events != nullptr && make_events(&events) == kSuccess;
  if (!reports) events = nullptr;
  for (unsigned i = 0; i < number; ++i) {
    NvmlDevice* device = nullptr;
    if (by_index(i, &device) != kSuccess) continue;  // it has fallen off the bus, or is another container's
    if (events != nullptr) register_events(device, kXidEvents, events);
    const std::vector<NvmlDevice*> parts = parts_of(device);
    if (parts.empty()) add(device, device);
    for (NvmlDevice* one : parts) add(one, device);
  }
}

void Nvml::Library::add(NvmlDevice* device, NvmlDevice* whole) {
  std::array<char, kLongestText> uuid{};
  std::array<char, kLongestText> name{};
  NvmlMemory bytes{};
  if (uuid_of(device, uuid.data(), uuid.size()) != kSuccess) return;
  if (name_of(device, name.data(), name.size()) != kSuccess) name_of(whole, name.data(), name.size());
  if (memory(device, &bytes) != kSuccess) bytes = {};
  gpus.push_back({.uuid = uuid.data(), .name = name.data(), .memory = bytes.total});
  devices.push_back({.handle = device, .whole = whole, .uuid = uuid.data()});
}

std::vector<NvmlDevice*> Nvml::Library::parts_of(NvmlDevice* device) const {
  std::vector<NvmlDevice*> parts;
  if (mig_mode == nullptr || most_parts == nullptr || part == nullptr) return parts;
  unsigned current = 0;
  unsigned pending = 0;
  unsigned most = 0;
  if (mig_mode(device, &current, &pending) != kSuccess || current != kMigEnabled) return parts;
  if (most_parts(device, &most) != kSuccess) return parts;
  for (unsigned i = 0; i < most; ++i) {
    if (NvmlDevice* one = nullptr; part(device, i, &one) == kSuccess) parts.push_back(one);
  }
  return parts;
}

const Nvml::Library::Device* Nvml::Library::find(const std::string& uuid) const {
  const auto at = std::find_if(devices.begin(), devices.end(), [&](const Device& one) { return one.uuid == uuid; });
  return at == devices.end() ? nullptr : &*at;
}

Nvml::Nvml(const std::string& library) : library_(std::make_unique<Library>(library)) {}
Nvml::~Nvml() = default;
Nvml::Nvml(Nvml&&) noexcept = default;
Nvml& Nvml::operator=(Nvml&&) noexcept = default;

const std::string& Nvml::driver() const { return library_->driver; }
int Nvml::cuda() const { return library_->cuda; }
const std::vector<Gpu>& Nvml::gpus() const { return library_->gpus; }

std::optional<GpuUse> Nvml::use(const std::string& uuid) const {
  const Library::Device* device = library_->find(uuid);
  NvmlMemory bytes{};
  if (device == nullptr || library_->memory(device->handle, &bytes) != kSuccess) return std::nullopt;
  GpuUse use{.memory = bytes.used};
  if (NvmlUtilization rates{}; library_->utilization(device->handle, &rates) == kSuccess) use.busy = rates.gpu / 100.0;
  return use;
}

std::uint64_t Nvml::memory_of(pid_t process, const std::string& uuid) const {
  const Library::Device* device = library_->find(uuid);
  if (device == nullptr || library_->processes == nullptr) return 0;
  std::vector<NvmlProcess> all(64);
  for (;;) {
    auto number = static_cast<unsigned>(all.size());
    const int code = library_->processes(device->handle, &number, all.data());
    if (code == kInsufficientSize && number > all.size()) {
      all.resize(number + all.size());  // more may come meanwhile
      continue;
    }
    if (code != kSuccess) return 0;
    all.resize(std::min<std::size_t>(number, all.size()));
    break;
  }
  std::uint64_t bytes = 0;
  for (const NvmlProcess& one : all) {
    if (one.pid == static_cast<unsigned>(process) && one.memory != kUnknownMemory) bytes += one.memory;
  }
  return bytes;
}

bool Nvml::peers(const std::string& one, const std::string& other) const {
  const Library::Device* a = library_->find(one);
  const Library::Device* b = library_->find(other);
  int status = -1;
  return a != nullptr && b != nullptr && library_->peer_status != nullptr &&
         library_->peer_status(a->handle, b->handle, kPeersRead, &status) == kSuccess && status == kPeersOk;
}

std::optional<GpuFault> Nvml::next_fault() {
  std::deque<GpuFault>& faults = library_->faults;
  NvmlEvent event{};
  while (faults.empty() && library_->events != nullptr &&
         library_->wait_event(library_->events, &event, 0) == kSuccess) {
    if (event.type != kXidEvents) continue;
    for (const Library::Device& one : library_->devices) {
      if (one.whole == event.device) faults.push_back({.uuid = one.uuid, .xid = event.data});
    }
  }
  if (faults.empty()) return std::nullopt;
  GpuFault first = std::move(faults.front());
  faults.pop_front();
  return first;
}

std::unique_ptr<Nvml> nvml_here() {
  try {
    return std::make_unique<Nvml>();
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace lp::gpu

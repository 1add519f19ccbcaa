// A stand-in for libnvidia-ml.so.1. It has the GPUs that the file named by NVML_STAND_IN lists, one fact a line, and
// reads that file again at each question:
//   driver VERSION CUDA
//   gpu UUID BYTES USED PERCENT NAME
//   part UUID BYTES USED              of the gpu in the line above: it is divided (MIG)
//   process UUID PID BYTES
//   peers UUID UUID
//   xid UUID NUMBER                   a fault, reported once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Words = std::vector<std::string>;

enum Code { success = 0, not_initialized = 1, not_supported = 3, too_small = 7, driver_not_loaded = 9, timeout = 10 };

std::map<std::string, std::string> names;  // the address of a key is the handle of the device with this UUID
bool initialized = false;
std::size_t faults_told = 0;

std::vector<Words> lines(const std::string& kind = {}) {
  std::vector<Words> all;
  const char* path = std::getenv("NVML_STAND_IN");
  std::ifstream file(path == nullptr ? "" : path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream text(line);
    Words words;
    for (std::string word; text >> word;) words.push_back(word);
    if (!words.empty() && (kind.empty() || words[0] == kind)) all.push_back(words);
  }
  return all;
}

const std::string* handle(const std::string& uuid) { return &names.try_emplace(uuid, uuid).first->first; }

Words line_of(const std::string* device) {
  for (const Words& line : lines()) {
    if ((line[0] == "gpu" || line[0] == "part") && line.at(1) == *device) return line;
  }
  return {};
}

std::vector<std::string> parts_of(const std::string* device) {
  std::vector<std::string> parts;
  bool its_own = false;
  for (const Words& line : lines()) {
    if (line[0] == "gpu") its_own = line.at(1) == *device;
    if (line[0] == "part" && its_own) parts.push_back(line.at(1));
  }
  return parts;
}

int give(const std::string& text, char* to, unsigned size) {
  if (text.size() >= size) return too_small;
  std::memcpy(to, text.c_str(), text.size() + 1);
  return success;
}

}  // namespace

extern "C" {

struct Memory {
  unsigned long long total, free, used;
};
struct Utilization {
  unsigned gpu, memory;
};
struct Process {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};
struct Event {
  const std::string* device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};

int nvmlInit_v2() {
  initialized = !lines().empty();
  return initialized ? success : driver_not_loaded;
}
int nvmlShutdown() {
  initialized = false;
  faults_told = 0;
  return success;
}
const char* nvmlErrorString(int code) { return code == driver_not_loaded ? "Driver Not Loaded" : "a mistake"; }
int nvmlSystemGetDriverVersion(char* text, unsigned size) { return give(lines("driver").at(0).at(1), text, size); }
int nvmlSystemGetCudaDriverVersion(int* version) {
  *version = std::stoi(lines("driver").at(0).at(2));
  return success;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(lines("gpu").size());
  return initialized ? success : not_initialized;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, const std::string** device) {
  *device = handle(lines("gpu").at(index).at(1));
  return success;
}
int nvmlDeviceGetUUID(const std::string* device, char* text, unsigned size) { return give(*device, text, size); }
int nvmlDeviceGetName(const std::string* device, char* text, unsigned size) {
  const Words line = line_of(device);
  if (line.empty() || line[0] != "gpu") return not_supported;
  std::string name;
  for (std::size_t i = 5; i < line.size(); ++i) name += (i == 5 ? "" : " ") + line[i];
  return give(name, text, size);
}
int nvmlDeviceGetMemoryInfo(const std::string* device, Memory* memory) {
  const Words line = line_of(device);
  if (line.empty()) return not_supported;  // it has fallen off the bus
  memory->total = std::stoull(line.at(2));
  memory->used = std::stoull(line.at(3));
  memory->free = memory->total - memory->used;
  return success;
}
int nvmlDeviceGetUtilizationRates(const std::string* device, Utilization* rates) {
  const Words line = line_of(device);
  if (line.empty() || line[0] != "gpu") return not_supported;
  rates->gpu = static_cast<unsigned>(std::stoul(line.at(4)));
  return success;
}
int nvmlDeviceGetComputeRunningProcesses_v3(const std::string* device, unsigned* count, Process* processes) {
  std::vector<Process> all;
  for (const Words& line : lines("process")) {
    if (line.at(1) == *device)
      all.push_back({static_cast<unsigned>(std::stoul(line.at(2))), std::stoull(line.at(3)), 0, 0});
  }
  const unsigned room = *count;
  *count = static_cast<unsigned>(all.size());
  if (all.size() > room) return too_small;
  std::copy(all.begin(), all.end(), processes);
  return success;
}
int nvmlDeviceGetMigMode(const std::string* device, unsigned* current, unsigned* pending) {
  *current = *pending = parts_of(device).empty() ? 0 : 1;
  return success;
}
int nvmlDeviceGetMaxMigDeviceCount(const std::string*, unsigned* count) {
  *count = 7;
  return success;
}
int nvmlDeviceGetMigDeviceHandleByIndex(const std::string* device, unsigned index, const std::string** part) {
  const std::vector<std::string> parts = parts_of(device);
  if (index >= parts.size()) return not_supported;
  *part = handle(parts[index]);
  return success;
}
int nvmlDeviceGetP2PStatus(const std::string* one, const std::string* other, int, int* status) {
  *status = 1;
  for (const Words& line : lines("peers")) {
    if (line.at(1) == *one && line.at(2) == *other) *status = 0;
  }
  return success;
}
int nvmlEventSetCreate(void** events) {
  *events = &names;
  return success;
}
int nvmlDeviceRegisterEvents(const std::string*, unsigned long long, void*) { return success; }
int nvmlEventSetWait_v2(void*, Event* event, unsigned) {
  const std::vector<Words> faults = lines("xid");
  if (faults_told >= faults.size()) return timeout;
  const Words& line = faults[faults_told++];
  *event = {handle(line.at(1)), 8, std::stoull(line.at(2)), 0, 0};
  return success;
}
int nvmlEventSetFree(void*) { return success; }
}

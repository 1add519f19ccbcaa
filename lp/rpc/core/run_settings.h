#pragma once
// The settings of a run, which are the same in all of its processes, and those of one process. Values. The launcher
// makes the first once and sends it whole to every process.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "lp/base/scheduler.h"
#include "lp/rpc/core/curve_keys.h"
#include "lp/rpc/link/path.h"

namespace lp {

struct RunSettings {
  std::string name{};                            // the run's name, for messages
  std::uint64_t seed = 0;                        // seed of the whole program
  std::string token{};                           // secret of the run: other processes must present it
  std::filesystem::path directory{};             // run directory, which holds the checkpoints; empty: none are taken
  Duration deadline = std::chrono::seconds(60);  // default of calls, where neither the call nor the method sets one
  bool no_deadlines = false;                     // a person is debugging: no deadline ends a call
  bool serialize = false;                        // local calls are encoded as bytes too (for tests)
  Path path = Path::nearest;                     // path to other processes: nearest, shm or tcp
  std::size_t shared_memory = 0;  // bytes that big arrays may share; 0: as much as the machine has memory
  std::string outside_key{};      // public key of callers outside the graph; empty: the run has no keys
};

struct ProcessSettings {
  std::string listen = "127.0.0.1";  // address of this process; beyond loopback only with keys
  CurveKeys keys{};                  // keys of this process: calls by TCP are encrypted, and only known keys may call
  // Bytes, of which waiting calls may take a part (lp/rpc/core/budget.h). 0: the machine's memory.
  std::size_t memory = 0;
};

}  // namespace lp

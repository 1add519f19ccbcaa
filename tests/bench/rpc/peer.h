#pragma once
// The common part of all peers of the benchmark: a service in a process of its own that answers bytes with bytes, and
// callers in other processes. A peer is one small file; measure.h does the same work with all of them.
//
// A Caller belongs to one thread.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "lp/base/array.h"

namespace lp::bench {

// A call and its answer. A service answers with the same message, or with bulk() if the call has no data.
struct Message {
  std::uint64_t number = 0;
  Array<std::uint8_t> data{};
};

// An answer in the memory where it arrived; valid until the next call of receive.
struct Reply {
  std::uint64_t number = 0;
  std::span<const std::uint8_t> data{};
};

inline constexpr std::size_t kBulk = std::size_t{64} << 20;    // bytes
inline constexpr std::size_t kLargest = std::size_t{1} << 20;  // bytes of a call

// `size` bytes that are not all equal.
Array<std::uint8_t> some_bytes(std::size_t size);

// kBulk of them; created at the first call.
const Array<std::uint8_t>& bulk();

class Caller {
 public:
  virtual ~Caller() = default;

  // Begins a call. `request` must stay unchanged until its reply was received.
  virtual void send(const Message& request) = 0;
  // Waits for the reply of one of the begun calls. A peer puts the data into `buffer`, which is large enough, if it
  // can; else the Reply refers to other memory.
  virtual Reply receive(std::span<std::uint8_t> buffer) = 0;
  // One call, from its beginning to its reply.
  virtual Reply round_trip(const Message& request, std::span<std::uint8_t> buffer) {
    send(request);
    return receive(buffer);
  }
  // The kBulk that the service has published, without a copy. Only lp can do that.
  virtual std::span<const std::uint8_t> read() { return {}; }
};

struct Peer {
  std::string name{};
  // Serves until the process is ended; calls `ready` with its address once callers can connect.
  void (*serve)(const std::function<void(const std::string& address)>& ready) = nullptr;
  std::unique_ptr<Caller> (*connect)(const std::string& address) = nullptr;
};

}  // namespace lp::bench

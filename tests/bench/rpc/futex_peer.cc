// Ping-pong through shared memory: each side copies its message there, and wakes the other with a futex.

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <new>

#include "lp/base/error.h"
#include "tests/bench/rpc/raw_peers.h"

namespace lp::bench {
namespace {

struct Half {
  alignas(64) std::atomic<std::uint32_t> turn = 0;  // messages so far
  std::uint64_t number = 0;
  std::uint64_t size = 0;
  alignas(64) std::uint8_t data[kLargest];
};
struct Shared {
  Half request;
  Half reply;
};

void put(Half& half, std::uint64_t number, std::span<const std::uint8_t> data) {
  half.number = number;
  half.size = data.size();
  std::memcpy(half.data, data.data(), data.size());
  half.turn.fetch_add(1);
  syscall(SYS_futex, &half.turn, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

// Waits for the message after the first `seen`.
void wait(Half& half, std::uint32_t seen) {
  while (half.turn.load() == seen) syscall(SYS_futex, &half.turn, FUTEX_WAIT, seen, nullptr, nullptr, 0);
}

Shared* map(int file) {
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
  if (memory == MAP_FAILED) throw Error(ErrorKind::failed, "cannot map shared memory");
  return static_cast<Shared*>(memory);
}

void serve(const std::function<void(const std::string&)>& ready) {
  const int file = memfd_create("bench", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, sizeof(Shared)) != 0) throw Error(ErrorKind::failed, "cannot make shared memory");
  auto* shared = new (map(file)) Shared;
  ready("/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file));
  for (std::uint32_t served = 0;; ++served) {
    wait(shared->request, served);
    put(shared->reply, shared->request.number, {shared->request.data, shared->request.size});
  }
}

class FutexCaller final : public Caller {
 public:
  explicit FutexCaller(const std::string& address) {
    const int file = open(address.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) throw Error(ErrorKind::failed, "cannot open " + address);
    shared_ = map(file);
    close(file);
  }
  void send(const Message& request) override { put(shared_->request, request.number, request.data); }
  Reply receive(std::span<std::uint8_t> buffer) override {
    const Half& reply = shared_->reply;
    wait(shared_->reply, received_++);
    std::memcpy(buffer.data(), reply.data, reply.size);
    return {.number = reply.number, .data = buffer.first(reply.size)};
  }

 private:
  Shared* shared_ = nullptr;
  std::uint32_t received_ = 0;
};

std::unique_ptr<Caller> connect(const std::string& address) { return std::make_unique<FutexCaller>(address); }

}  // namespace

Peer futex_peer() { return {.name = "futex", .serve = serve, .connect = connect}; }

}  // namespace lp::bench

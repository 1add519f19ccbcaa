// If the system provides no shared memory, or little, calls use another path and callers see no difference.

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>

#include "lp/base/shared_heap.h"
#include "lp/lp.h"
#include "tests/lp/program/in_child.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

class Scaler {
 public:
  Array<float> scaled(Array<float> values, float by) {
    for (float& value : values.edit()) value *= by;
    return values;
  }
  using Remote = Methods<&Scaler::scaled>;
};

// Two runtimes call each other with arrays of all sizes. Returns their endpoint, or the error.
std::string call(Path path, std::size_t shared_memory = 0) {
  Program program("limited");
  const Handle<Scaler> scaler = program.add<Scaler>({.name = "scaler"});
  Runtime::Options options;
  options.run.name = "test";
  options.run.token = "secret";
  options.network = true;
  options.run.path = path;
  options.run.shared_memory = shared_memory;
  options.run.deadline = std::chrono::seconds(20);
  LocalRun serving(program, options);
  LocalRun calling(program, options, LocalRun::kNothingHere);
  const PeerState up{.node = 0, .incarnation = 1, .endpoint = serving.runtime().endpoint()};
  calling.runtime().update(std::span(&up, 1));
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}, std::size_t{100'000}, std::size_t{3'000'000}}) {
    Array<float> values(size);
    if (size > 0) values.edit()[size - 1] = 2;
    const Array<float> scaled = calling.client(scaler).call<&Scaler::scaled>(values, 3);
    if (scaled.size() != size || (size > 0 && scaled[size - 1] != 6)) return "a wrong reply";
  }
  return up.endpoint;
}

bool has_shm(const std::string& endpoint) { return endpoint.find(" shm://") != std::string::npos; }
bool takes_tcp() {
  const std::string endpoint = call(Path::nearest);
  return endpoint.starts_with("tcp://") && !has_shm(endpoint) && SharedHeap::current() == nullptr;
}

bool forbid_memfd_create() {
  std::array<sock_filter, 4> filter{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{.len = static_cast<unsigned short>(filter.size()), .filter = filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

class WithoutSharedMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (SharedHeap::current() != nullptr) GTEST_SKIP() << "this process has its heap already: run this test by itself";
  }
};

TEST_F(WithoutSharedMemory, NormallyThereIsSome) {
  EXPECT_EQ(in_child([] { return has_shm(call(Path::nearest)); }), 0);
  EXPECT_EQ(in_child([] { return has_shm(call(Path::shm)); }), 0);
  EXPECT_EQ(in_child([] { return !has_shm(call(Path::tcp)); }), 0);
}

TEST_F(WithoutSharedMemory, ASandboxThatForbidsItMeansTcp) {
  EXPECT_EQ(in_child([] { return forbid_memfd_create() && takes_tcp(); }), 0);
  EXPECT_EQ(in_child([] {
              try {
                if (forbid_memfd_create()) call(Path::shm);
              } catch (const Error& error) {
                return error.text().find("memfd_create") != std::string::npos;
              }
              return false;
            }),
            0);
}

TEST_F(WithoutSharedMemory, ALimitOfFileSizesMeansTcp) {
  EXPECT_EQ(in_child([] { return limit(RLIMIT_FSIZE, kMebibyte) && takes_tcp(); }), 0);
}

#if !defined(LP_SANITIZED)  // sanitizers need more than any limit
TEST_F(WithoutSharedMemory, ALimitOfAddressesMeansTcp) {
  EXPECT_EQ(in_child([] { return limit(RLIMIT_AS, 1024 * kMebibyte) && takes_tcp(); }), 0);
}
#endif

// Descriptors may run out anywhere between the heap and the last one of a link. (With fewer, TCP itself has too few:
// its sockets, threads and guard take some forty in the two runtimes.)
TEST_F(WithoutSharedMemory, TooFewDescriptorsMeanTcp) {
  const std::filesystem::directory_iterator open("/proc/self/fd");
  const auto before = static_cast<std::size_t>(std::distance(begin(open), end(open)));
  for (std::size_t most = before + 52; most < before + 82; most += 2) {
    EXPECT_EQ(in_child([most] { return limit(RLIMIT_NOFILE, most) && call(Path::nearest).starts_with("tcp://"); }), 0)
        << most;
  }
}

// Threads, too, may run out anywhere. Root has no such limit, so another user calls.
TEST_F(WithoutSharedMemory, TooFewThreadsAreAnErrorOrMeanTcp) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  constexpr unsigned kPatience = 60;
  for (std::size_t most = 1; most < 32; ++most) {
    const auto ends = [most] {
      alarm(kPatience);
      if (!become_somebody() || !limit(RLIMIT_NPROC, most)) return false;
      try {
        return call(Path::nearest).starts_with("tcp://");
      } catch (const Error& error) {
        return error.text().find("ulimit -u") != std::string::npos;
      }
    };
    EXPECT_EQ(in_child(ends), 0) << most;
  }
}

TEST_F(WithoutSharedMemory, AHeapThatIsSmallerThanTheArraysIsEnough) {
  EXPECT_EQ(in_child([] { return has_shm(call(Path::shm, kMebibyte)); }), 0);
  EXPECT_EQ(in_child([] { return has_shm(call(Path::shm, 4096)); }), 0);
}

}  // namespace
}  // namespace lp

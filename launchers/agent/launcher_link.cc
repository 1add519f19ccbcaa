#include "launchers/agent/launcher_link.h"

#include <unistd.h>

#include <utility>

#include "launchers/os/pidfd.h"
#include "lp/base/text.h"

namespace lp::launch {
namespace {

constexpr auto kAllAgentsStart = std::chrono::minutes(10);  // the launcher elsewhere starts all of its agents meanwhile

// Tags of descriptors. Output has a descriptor of its own where the stream is a pair of pipes.
constexpr std::uint64_t kStream = 0;
constexpr std::uint64_t kOutput = 1;
constexpr std::uint64_t kProcess = 2;

}  // namespace

// A process that the launcher forked may hold the launcher's end of the connection open, so the launcher's process is
// watched, too.
LauncherLink::LauncherLink(int in, int out, std::optional<Duration> lease, Poller& poller,
                           Function<void(std::span<const std::uint8_t> message)> handle)
    : poller_(poller),
      stream_(in, out, kLargeMessages),
      process_(pidfd_open(getppid(), 0)),
      lease_(lease),
      handle_(std::move(handle)),
      received_(after(kAllAgentsStart)) {
  poller_.add(in, kStream);
  if (out != in) poller_.add(out, kOutput, false, false);
  if (process_ >= 0) poller_.add(process_, kProcess);
}

void LauncherLink::on_ready(const Poller::Ready& ready) {
  if (ready.tag == kProcess || (ready.tag == kOutput && !ready.writable)) {
    open_ = false;
    return;
  }
  if (ready.writable) stream_.flush();
  if (ready.tag == kStream && ready.readable) receive();
}

void LauncherLink::receive() {
  std::string fault;
  received_ = now();
  open_ = stream_.receive([this](auto bytes) { handle_(bytes); }, fault) && open_;
  if (!fault.empty()) close("its launcher sent a wrong message: " + fault);
}

void LauncherLink::close(const std::string& why) {
  log_line("the agent ends, because " + why);
  open_ = false;
}

void LauncherLink::advance() {
  watch_writable();
  if (open_ && now() >= lease_end()) close("it has heard nothing from its launcher for too long");
}

void LauncherLink::watch_writable() {
  const bool writable = stream_.pending() > 0;
  if (writable == writable_) return;
  writable_ = writable;
  if (stream_.out() == stream_.fd()) {
    poller_.change(stream_.fd(), kStream, writable);
  } else {
    poller_.change(stream_.out(), kOutput, writable, false);
  }
}

}  // namespace lp::launch

#include "launchers/remote/host_reconnector.h"

#include <utility>

namespace lp::launch {

HostReconnector::HostReconnector(std::map<std::size_t, Host> hosts, RemoteOptions options, Executable binary)
    : hosts_(std::move(hosts)), options_(std::move(options)), binary_(std::move(binary)) {}

HostReconnector::~HostReconnector() {
  while (!starts_.empty()) take(starts_.begin()->first);
}

void HostReconnector::attach(EventLoop& loop, Function<void(std::size_t, RemoteAgent)> there) {
  loop_ = &loop;
  there_ = std::move(there);
}

void HostReconnector::dial(std::size_t host) { alarms_.set(host, after(options_.lease)); }

void HostReconnector::advance(Time now) {
  while (const auto host = alarms_.take(now)) {
    if (!starts_.contains(*host)) {
      start(*host);
    } else {
      take(*host);
      dial(*host);
    }
  }
}

void HostReconnector::start(std::size_t host) {
  const auto& [spec, command] = hosts_.at(host);
  const auto& start = starts_[host] = std::make_unique<AgentStart>(spec, command, binary_, options_);
  alarms_.set(host, after(options_.patience));
  loop_->watch(start->fd(), [this, host](EventLoop::Ready) { check(host); });
  check(host);
}

void HostReconnector::check(std::size_t host) {
  AgentStart& start = *starts_[host];
  start.advance();
  if (start.pending()) return loop_->want_writable(start.fd(), start.wants_to_write());
  const auto ended = take(host);
  if (!ended->problem().empty()) return dial(host);
  alarms_.cancel(host);
  there_(host, ended->finish());
}

// Removes the attempt from those that have begun.
std::unique_ptr<AgentStart> HostReconnector::take(std::size_t host) {
  loop_->unwatch(starts_[host]->fd());
  return std::move(starts_.extract(host).mapped());
}

}  // namespace lp::launch

#include "launchers/agent/agent_link.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <utility>
#include <vector>

#include "launchers/control/control_generated.h"
#include "launchers/control/control_messages.h"
#include "launchers/os/spawn.h"

namespace lp::launch {
namespace {

constexpr std::size_t kMostErrorText = 2000;  // bytes that are kept of the messages of ssh or srun
constexpr int kBeatsPerLease = 5;             // per lease

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

}  // namespace

AgentLink::AgentLink(Options options) : options_(std::move(options)), control_(std::move(options_.control)) {
  if (options_.errors >= 0) fcntl(options_.errors, F_SETFL, O_NONBLOCK);
}

AgentLink::~AgentLink() {
  close();
  if (options_.process >= 0) end_child(options_.process);
  if (options_.errors >= 0) ::close(options_.errors);
}

void AgentLink::attach(EventLoop& loop, Events events) {
  loop_ = &loop;
  events_ = std::move(events);
  if (control_ != nullptr) watch();
  if (options_.errors >= 0) loop.watch(options_.errors, [this](EventLoop::Ready) { read_errors(); });
}

void AgentLink::connect(std::unique_ptr<MessageStream> control) {
  if (open()) lose("it was restarted");
  control_ = std::move(control);
  watch();
}

void AgentLink::watch() {
  loop_->watch(control_->fd(), [this](EventLoop::Ready ready) {
    if (ready.writable) control_->flush();
    if (ready.readable) receive();
    if (control_ != nullptr) loop_->want_writable(control_->fd(), control_->pending() > 0);
  });
  received_ = now();
  if (options_.lease.has_value()) next_beat_ = received_;
}

void AgentLink::send(std::span<const std::uint8_t> message) {
  if (control_ == nullptr) return;
  control_->send(message);
  loop_->want_writable(control_->fd(), control_->pending() > 0);
}

void AgentLink::send_all(Function<std::vector<std::uint8_t>()> next) {
  if (control_ == nullptr) return;
  control_->send_all(std::move(next));
  loop_->want_writable(control_->fd(), control_->pending() > 0);
}

void AgentLink::kill() {
  if (options_.process >= 0) ::kill(options_.process, SIGKILL);
}

void AgentLink::close() {
  if (control_ == nullptr) return;
  if (loop_ != nullptr) {
    loop_->unwatch(control_->fd());
    if (options_.errors >= 0) loop_->unwatch(options_.errors);
  }
  control_.reset();
  next_beat_ = kNever;
}

Time AgentLink::next() const { return next_beat_; }

void AgentLink::advance(Time now) {
  if (control_ == nullptr || now < next_beat_) return;
  if (now - received_ > *options_.lease)
    return lose("it has not answered for " +
                std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now - received_).count()) + " s");
  next_beat_ = now + *options_.lease / kBeatsPerLease;
  send(pack(0, 0, control::BeatT()));
}

void AgentLink::receive() {
  std::string fault;
  const bool open = control_->receive(
      [this](std::span<const std::uint8_t> message) {
        received_ = now();
        events_.on_message(message);
      },
      fault);
  if (open || control_ == nullptr) return;
  if (options_.errors >= 0) read_errors();
  if (control_ == nullptr) return;
  const std::string text = trimmed(error_text_);
  lose(!fault.empty() ? fault : !text.empty() ? text : "the connection ended");
}

void AgentLink::read_errors() {
  std::array<char, 4096> bytes;
  ssize_t got = 0;
  while ((got = read(options_.errors, bytes.data(), bytes.size())) > 0)
    error_text_.append(bytes.data(), static_cast<std::size_t>(got));
  if (got == 0 && loop_ != nullptr) loop_->unwatch(options_.errors);
  if (error_text_.size() > kMostErrorText) error_text_.erase(0, error_text_.size() - kMostErrorText);
}

void AgentLink::lose(const std::string& why) {
  close();
  kill();
  events_.lost(why);
}

std::unique_ptr<AgentLink> start_agent_here(const std::string& mark) {
  const SocketPair ends = make_socket_pair();
  AgentLink::Options link{.control = std::make_unique<MessageStream>(ends.ours, kSmallMessages)};
  try {
    link.process = spawn_agent(ends.theirs, run_mark(mark));
  } catch (...) {
    ::close(ends.theirs);
    throw;
  }
  ::close(ends.theirs);
  return std::make_unique<AgentLink>(std::move(link));
}

}  // namespace lp::launch

#include "lp/rpc/tcp/tcp.h"

#include <cstdio>
#include <exception>
#include <span>

#include "lp/base/error.h"
#include "lp/base/secret.h"
#include "lp/base/text.h"
#include "lp/wire/envelope.h"

namespace lp::rpc {
namespace {

constexpr std::size_t kArrivals = 64;           // arrivals taken from the socket at a time
constexpr std::size_t kArrivalBytes = 1 << 20;  // bytes after which it takes no further arrival
// Whether the current thread reads while it waits for a reply, and the object whose socket it is using.
thread_local bool t_reads = false;
thread_local const Tcp* t_at_socket = nullptr;

// The prefix of the names under which this socket knows the processes that it dials. Nobody can guess it: processes
// that dial us may choose their names, and libzmq aborts when a name that we give is taken.
std::string secret_prefix() { return "l" + secret_bytes(10); }  // libzmq's own begin with a zero byte

}  // namespace

class Tcp::TcpLink final : public Link {
 public:
  TcpLink(std::shared_ptr<Tcp> tcp, const std::string& id)
      : tcp_(std::move(tcp)), outbox_(std::make_shared<Outbox>(id)) {}
  void send(Message message) override { tcp_->send(outbox_, std::move(message)); }
  bool full() const noexcept override { return outbox_->full.load(std::memory_order_relaxed); }
  const std::shared_ptr<Outbox>& outbox() const { return outbox_; }
  Queued queued() const override {
    const std::lock_guard lock(tcp_->outboxes_);
    return {.messages = outbox_->messages.size(), .bytes = outbox_->waiting};
  }
  Word* begin_reading() noexcept override { return tcp_->begin_reading(); }
  Poller* poller() noexcept override { return &tcp_->reader_; }
  bool read() override { return tcp_->read(); }
  void end_reading() noexcept override { tcp_->end_reading(); }

 private:
  const std::shared_ptr<Tcp> tcp_;
  const std::shared_ptr<Outbox> outbox_;
};

namespace {

// Returns the secret that a connecting process must present; ZeroMQ accepts no empty one.
std::string secret_of(const LocalProcess& process) { return "lp " + process.options().run.token; }

}  // namespace

// While it lives, the current thread alone uses the socket. At its end it sends the messages that others could not send
// meanwhile.
class Tcp::AtSocket {
 public:
  explicit AtSocket(Tcp& tcp) : AtSocket(tcp, std::unique_lock(tcp.socket_), /*flushes=*/true) {}
  AtSocket(Tcp& tcp, std::unique_lock<std::mutex> lock, bool flushes)
      : tcp_(tcp), lock_(std::move(lock)), flushes_(flushes), outer_(std::exchange(t_at_socket, &tcp)) {}
  ~AtSocket() {
    t_at_socket = outer_;
    lock_.unlock();
    if (flushes_) tcp_.flush();
  }
  AtSocket(const AtSocket&) = delete;
  AtSocket& operator=(const AtSocket&) = delete;
  Router* operator->() const { return tcp_.router_.get(); }
  explicit operator bool() const { return tcp_.router_ != nullptr; }  // false: the router is closed

 private:
  Tcp& tcp_;
  std::unique_lock<std::mutex> lock_;
  const bool flushes_;
  const Tcp* const outer_;
};

Tcp::Tcp(LocalProcess& process)
    : process_(process),
      router_(std::make_unique<Router>(secret_of(process), process.options().own.keys)),
      descriptor_(router_->descriptor()),
      prefix_(secret_prefix()),
      arrivals_(kArrivals) {
  authenticator_ = std::make_unique<Authenticator>(
      *router_, secret_of(process),
      Authenticator::Notices{.refused = [this] { process_.count_refusal(); },
                             .refuses_us = [this](const std::string& endpoint) { on_refusal(endpoint); },
                             .ended = [this](int descriptor) { on_end(descriptor); },
                             .broken = [this](const std::string& endpoint) { on_break(endpoint); }});
  const ProcessSettings& own = process.options().own;
  if (!is_loopback(own.listen) && own.keys.secret_key.empty()) {
    throw Error(ErrorKind::failed,
                "cannot listen on " + own.listen +
                    ": other hosts can reach this address, so every process of the run needs its own key");
  }
  if (const std::string& key = process.options().run.outside_key; !key.empty()) allow(key);
  endpoint_ = router_->listen(own.listen);
  reader_.share(descriptor_, 0);  // comes first: it wakes a thread that reads and waits, otherwise the receiver
  poller_.share(descriptor_, 0);
}

std::shared_ptr<Tcp> Tcp::listen(LocalProcess& process) {
  std::shared_ptr<Tcp> tcp(new Tcp(process));
  const std::shared_ptr<Receivers::Source> source(tcp, tcp.get());
  tcp->receivers_ = std::make_unique<Receivers>(process.pool(), tcp->post_, source);
  return tcp;
}

Tcp::~Tcp() = default;

std::shared_ptr<Connection> Tcp::dial(const std::string& endpoint, const std::string& key) {
  std::string id;
  bool reused = false;
  std::shared_ptr<Connection> connection;
  {
    const std::lock_guard lock(table_);
    const auto found = dialed_.find(endpoint);
    if (found != dialed_.end() && found->second.key == key && found->second.connection->open()) {
      return found->second.connection;
    }
    reused = found != dialed_.end();
  }
  if (reused) hang_up(endpoint);  // the earlier process is gone, or sent malformed messages
  {
    const std::lock_guard lock(table_);
    ++dials_;
    id = prefix_ + std::string(reinterpret_cast<const char*>(&dials_), sizeof dials_);
    connection = std::make_shared<Connection>(process_, std::make_unique<TcpLink>(shared_from_this(), id));
    if (closing_) {
      connection->close();
      return connection;
    }
    dialed_.insert_or_assign(endpoint, Dialed{.id = id, .key = key, .connection = connection});
    remotes_.insert_or_assign(id, std::make_shared<Remote>(Remote{.id = id, .connection = connection, .known = true}));
  }
  if (const AtSocket socket(*this); socket) {
    socket->connect(id, endpoint, key);
    poll();
  }
  connection->greet();
  return connection;
}

void Tcp::hang_up(const std::string& endpoint) {
  Dialed dialed;
  {
    const std::lock_guard lock(table_);
    const auto found = dialed_.find(endpoint);
    if (found == dialed_.end()) return;
    dialed = std::move(found->second);
    dialed_.erase(found);
    remotes_.erase(dialed.id);
  }
  if (const AtSocket socket(*this); socket) {
    socket->disconnect(endpoint);
    poll();
  }
  dialed.connection->close();
}

void Tcp::allow(const std::string& key) { authenticator_->allow(key); }

void Tcp::revoke(const std::string& key) {
  const std::uint64_t permit = authenticator_->revoke(key);
  std::vector<std::shared_ptr<Remote>> ended;
  if (permit != 0) {
    const std::lock_guard lock(table_);
    for (const auto& [id, remote] : remotes_) {
      if (remote->permit == permit) ended.push_back(remote);
    }
    for (const auto& remote : ended) remotes_.erase(remote->id);
  }
  for (const auto& remote : ended) {
    remote->connection->close();
    authenticator_->cut(remote->descriptor);
  }
}

void Tcp::close() {
  if (closing_.exchange(true)) return;
  authenticator_->close();
  {
    const AtSocket socket(*this);
    send_listed();
    router_.reset();
  }
  if (receivers_ != nullptr) receivers_->close();
  std::unordered_map<std::string, std::shared_ptr<Remote>> remotes;
  {
    const std::lock_guard lock(table_);
    remotes = std::exchange(remotes_, {});
    dialed_.clear();
  }
  for (auto& [id, remote] : remotes) remote->connection->close();
}

void Tcp::send(const std::shared_ptr<Outbox>& outbox, Message message) {
  {
    const std::lock_guard lock(outboxes_);
    outbox->waiting += message.size();
    if (outbox->waiting > Link::kFull) outbox->full = true;
    outbox->messages.push_back(std::move(message));
    if (outbox->sending || closing_) return;
    list(outbox);
  }
  flush();
}

void Tcp::sent(const std::shared_ptr<Outbox>& outbox) {
  {
    const std::lock_guard lock(outboxes_);
    outbox->sending = false;
    if (outbox->messages.empty()) return;
    list(outbox);
  }
  flush();
}

// The caller holds outboxes_. This runs in another thread, because the caller may hold locks of the connection.
void Tcp::notify_drained(const Outbox& outbox) {
  process_.timers().at(now(), [weak = outbox.connection] {
    if (const auto connection = weak.lock()) connection->drained();
  });
}

// The caller holds outboxes_.
void Tcp::list(const std::shared_ptr<Outbox>& outbox) {
  if (std::exchange(outbox->listed, true)) return;
  to_send_.push_back(outbox);
  listed_ = true;
}

void Tcp::flush() {
  while (listed_.load()) {
    if (t_at_socket == this) return;  // ZeroMQ drops a message in the middle of a call
    std::unique_lock lock(socket_, std::try_to_lock);
    if (!lock.owns_lock()) return;  // the thread at the socket sends the messages
    const AtSocket socket(*this, std::move(lock), /*flushes=*/false);
    send_listed();
  }
}

// The caller holds socket_.
void Tcp::send_listed() {
  {
    const std::lock_guard lock(outboxes_);
    leaving_.swap(to_send_);
    listed_ = false;
  }
  for (const std::shared_ptr<Outbox>& outbox : leaving_) {
    {
      const std::lock_guard lock(outboxes_);
      outbox->listed = false;
      outbox->sending = true;
      outbox->waiting = 0;
      if (outbox->full.exchange(false)) notify_drained(*outbox);
      messages_to_send_.swap(outbox->messages);
    }
    if (router_ != nullptr) router_->send(outbox->id, messages_to_send_, [this, outbox] { sent(outbox); });
    messages_to_send_.clear();
  }
  leaving_.clear();
  if (router_ != nullptr) poll();
}

// The caller holds socket_, which was used: a message may have come that the descriptor no longer signals.
void Tcp::poll() {
  has_ = router_->readable() ? Has::more : Has::nothing;
  if (has_ == Has::more) poll_again();
}

void Tcp::poll_again() noexcept {
  if (role_.ask_again()) return;
  if (reading_) {
    reader_word_ = Event::kSet;
    reader_.wake();
  } else {
    wake();
  }
}

void Tcp::receive() {
  bool more = true;
  while (more && role_.enter()) {
    const Received received = receive_one(Handlers::here);
    more = received.any || received.again;
  }
}

// The caller has the role of the receiver, which this gives up.
Tcp::Received Tcp::receive_one(Handlers handlers) {
  Receiving<Tcp> receiving(role_, *this);
  Received result;
  Runnable handler;
  Message message;
  if (take(message)) {
    result.any = true;
    Receivers::before_handler(/*more=*/false);  // this thread goes on
    // A handler that waits in there gives away the role, and sender_.
    if (const std::shared_ptr<Remote> sender = sender_.lock()) {
      try {
        handler = sender->connection->on_message(std::move(message));
        if (!std::exchange(sender->known, true)) authenticator_->greeted(sender->descriptor);
      } catch (const std::exception& problem) {
        refuse(*sender, problem);
      }
    }
  }
  if (receiving.has_role()) {
    result.rest = handled_ < messages_.size() || opened_ < arrived_;
    result.again = receiving.leave();
    // The handler may wait, and the thread that wanted the role may sleep by now.
    if (result.again && handler) poll_again();
  } else {
    result = {.any = false, .again = false, .rest = true};  // this thread had to wait, and another has the role
  }
  if (!handler) return result;
  if (handlers == Handlers::here) {
    Receivers::before_handler(/*more=*/true);
    handler.run();
  } else {
    handler.run_in(process_.pool());
  }
  return result;
}

bool Tcp::take(Message& message) {
  while (handled_ == messages_.size()) {
    messages_.clear();
    handled_ = 0;
    if (opened_ == arrived_ && !fetch()) return false;
    open(arrivals_[opened_++]);
    if (messages_.size() > 1) alone_ = false;
  }
  message = std::move(messages_[handled_++]);
  return true;
}

bool Tcp::fetch() {
  opened_ = arrived_ = 0;
  const Has has = has_;
  if (has == Has::nothing) return false;
  if (const AtSocket socket(*this); socket) {
    // A poll in vain costs as much as a short message. If the descriptor fired and the last time it fired for a single
    // message, ask for one only.
    const std::size_t most = has == Has::fired && alone_ ? 1 : arrivals_.size();
    std::size_t bytes = 0;
    bool more = true;
    while (more && arrived_ < most && bytes < kArrivalBytes) {
      more = socket->receive(arrivals_[arrived_]);
      if (more) bytes += arrivals_[arrived_++].content.size();
    }
    has_ = more ? Has::more : Has::nothing;
    alone_ = has == Has::fired && arrived_ == 1;
  }
  return arrived_ > 0;
}

void Tcp::open(Router::Arrival& arrival) {
  const std::shared_ptr<Remote> sender = remote(arrival);
  sender_ = sender;
  if (sender == nullptr) return;
  try {
    if (!sender->known && arrival.permit != 0 && !authenticator_->allows(arrival.permit)) {
      authenticator_->cut(arrival.descriptor);
      throw Error(ErrorKind::failed, "its key was revoked");
    }
    sender->assembly.add(std::move(arrival.content), sender->known, messages_);
  } catch (const std::exception& problem) {
    messages_.clear();
    refuse(*sender, problem);
  }
}

std::shared_ptr<Tcp::Remote> Tcp::remote(const Router::Arrival& arrival) {
  const std::lock_guard lock(table_);
  if (closing_) return nullptr;
  std::shared_ptr<Remote>& remote = remotes_[arrival.id];
  if (remote == nullptr) {
    auto link = std::make_unique<TcpLink>(shared_from_this(), arrival.id);
    const std::shared_ptr<Outbox> outbox = link->outbox();
    const auto connection = std::make_shared<Connection>(process_, std::move(link));
    outbox->connection = connection;
    authenticator_->on_packet(arrival.descriptor);
    remote = std::make_shared<Remote>(
        Remote{.id = arrival.id, .connection = connection, .descriptor = arrival.descriptor, .permit = arrival.permit});
  }
  return remote;
}

void Tcp::refuse(Remote& remote, const std::exception& problem) {
  remote.connection->refuse(problem);
  const std::lock_guard lock(table_);
  remotes_.erase(remote.id);
}

// The process at an endpoint that was dialed refuses this one as a stranger.
void Tcp::on_refusal(const std::string& endpoint) {
  std::shared_ptr<Connection> connection;
  {
    const std::lock_guard lock(table_);
    const auto found = dialed_.find(endpoint);
    if (found != dialed_.end()) connection = found->second.connection;
  }
  if (connection != nullptr) {
    const bool keys = !process_.options().own.keys.secret_key.empty();
    static_cast<void>(connection->on_message(
        refusal_packet(keys ? "the key of this process was revoked: another process may have replaced it"
                            : "this process belongs to another run: its secret is different")));
  }
}

// Handles the end of a process that had dialed this one.
void Tcp::on_end(int descriptor) {
  std::shared_ptr<Remote> ended;
  {
    const std::lock_guard lock(table_);
    for (const auto& [id, remote] : remotes_) {
      if (remote->descriptor == descriptor) ended = remote;
    }
    if (ended != nullptr) remotes_.erase(ended->id);
  }
  if (ended == nullptr) return;
  if (ended->connection->link().full()) {
    process_.count_refusal();
    log_line("a caller was disconnected, because it did not read its replies");
  }
  ended->connection->close();
}

// The connection to a process that was dialed has ended. The process may have ended, too; otherwise the network failed,
// or ZeroMQ found no memory for a message here or there, which it does not report.
void Tcp::on_break(const std::string& endpoint) {
  std::shared_ptr<Connection> connection;
  {
    const std::lock_guard lock(table_);
    const auto found = dialed_.find(endpoint);
    if (closing_ || found == dialed_.end()) return;
    connection = found->second.connection;
  }
  connection->sever();
  process_.broken(*connection);
}

void Tcp::wait() {
  Poller::Ready ready;
  poller_.wait(std::span(&ready, 1), kNever);
  has_ = Has::fired;
}

// A thread that reads while it waits for a reply handles the incoming messages itself.
Receivers::Source::Successor Tcp::successor() const noexcept { return t_reads ? Successor::none : Successor::now; }

Word* Tcp::begin_reading() noexcept {
  if (role_.taken() || closing_ || reading_.exchange(true)) return nullptr;
  reader_word_ = Event::kEmpty;
  unread_ = waited_ = false;
  only_ = !alone_;
  // With many messages, one may come at any time, when this thread does not wait.
  if (only_) poller_.remove(descriptor_);
  t_reads = true;
  return &reader_word_;
}

bool Tcp::read() {
  if (waited_) has_ = Has::fired;
  bool any = false;
  Received received{.rest = true};
  while ((received.rest || received.again) && role_.enter()) {
    received = receive_one(Handlers::in_pool);
    any = any || received.any;
    unread_ = received.again || received.rest;
  }
  waited_ = !any;
  return any;
}

void Tcp::end_reading() noexcept {
  t_reads = false;
  const bool unread = unread_;
  const bool waited = waited_;
  if (only_) poller_.share(descriptor_, 0);
  reading_ = false;
  if (unread) {
    wake();
  } else if (waited || has_ == Has::more) {
    if (const AtSocket socket(*this); socket) poll();
  }
}

}  // namespace lp::rpc

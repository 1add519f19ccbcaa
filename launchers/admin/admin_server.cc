#include "launchers/admin/admin_server.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/json.h"

namespace lp::launch {
namespace {

constexpr int kWaiting = 64;  // connections that are not accepted yet

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what) {
  throw Error(ErrorKind::failed, path.string() + ": " + what + ": " + std::strerror(errno));
}

// Accepts only processes of this user and of the administrator.
bool is_ours(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && (peer.uid == geteuid() || peer.uid == 0);
}

std::string refusal(const std::string& why) {
  JsonWriter json;
  json.begin_object();
  json.member("error", why);
  json.end_object();
  return std::move(json).text() + "\n";
}

}  // namespace

std::string live_address(const std::filesystem::path& directory, Descriptor& opened) {
  opened = Descriptor(open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!opened) fail(directory, "cannot be opened");
  return "/proc/self/fd/" + std::to_string(opened.number()) + "/" + AdminServer::kName;
}

AdminServer::AdminServer(const std::filesystem::path& directory, EventLoop& loop, Handlers handlers)
    : path_(std::filesystem::absolute(directory) / kName), loop_(loop), handlers_(std::move(handlers)) {
  Descriptor listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener) fail(path_, "cannot make the admin socket");
  Descriptor opened;
  const std::string name = live_address(directory, opened);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(static_cast<char*>(address.sun_path), sizeof address.sun_path - 1);
  // The file gets the mode of the socket, so it is never open to others, not even for a moment.
  fchmod(listener.number(), S_IRUSR | S_IWUSR);
  unlink(path_.c_str());
  if (bind(listener.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener.number(), kWaiting) != 0) {
    fail(path_, "cannot make the admin socket");
  }
  acceptor_.emplace(std::move(listener), loop_, [this](Descriptor client) { accept(std::move(client)); });
}

AdminServer::~AdminServer() { finish(Time()); }

void AdminServer::accept(Descriptor socket) {
  if (const bool ours = is_ours(socket.number()); !ours || clients_.size() >= kClients) {
    Outbox why;
    why.add(refusal(ours ? "this run serves " + std::to_string(kClients) +
                               " other clients: end some of them, or try again later"
                         : "this run belongs to another user"));
    why.send_now(socket.number());
    return;
  }
  const Client client = ++last_;
  const int fd = socket.number();
  clients_[client].socket = std::move(socket);
  loop_.watch(fd, [this, client](EventLoop::Ready ready) { handle(client, ready); });
}

void AdminServer::handle(Client client, EventLoop::Ready ready) {
  if (ready.writable) flush(client);
  if (ready.readable) serve(client);
}

// Serves one request per turn of the loop, however many there are, because the run comes first.
void AdminServer::serve(Client client) {
  const auto at = clients_.find(client);
  if (at == clients_.end()) return;
  Connection& from = at->second;
  std::size_t end = from.inbox.find('\n');
  if (end == std::string::npos) {
    std::array<char, 4096> bytes;
    const ssize_t got = recv(from.socket.number(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return drop(client);
    from.inbox.append(bytes.data(), static_cast<std::size_t>(got));
    end = from.inbox.find('\n');
  }
  if (std::min(end, from.inbox.size()) > kLongestRequest) {
    return refuse(client, "a request may have at most " + std::to_string(kLongestRequest) + " bytes");
  }
  if (end == std::string::npos) return;
  const std::string line = from.inbox.substr(0, end);
  from.inbox.erase(0, end + 1);
  const bool more = from.inbox.find('\n') != std::string::npos;
  if (more && !std::exchange(from.resumes, true)) {
    loop_.post([this, client] {
      if (const auto again = clients_.find(client); again != clients_.end()) again->second.resumes = false;
      serve(client);
    });
  }
  handlers_.on_line(client, line);
}

void AdminServer::send(Client client, std::string_view line) {
  const auto at = clients_.find(client);
  if (at == clients_.end()) return;
  Connection& to = at->second;
  if (to.outbox.size() > kOutbox) return refuse(client, "the client does not read its answers fast enough");
  to.outbox.add(line);
  to.outbox.add("\n");
  flush(client);
}

void AdminServer::flush(Client client) {
  const auto at = clients_.find(client);
  if (at == clients_.end()) return;
  Connection& to = at->second;
  if (!to.outbox.send_now(to.socket.number())) to.outbox.clear();  // gone; the next read finds that out
  loop_.want_writable(to.socket.number(), !to.outbox.empty());
}

void AdminServer::refuse(Client client, const std::string& why) {
  const auto at = clients_.find(client);
  if (at == clients_.end()) return;
  // A part of a line that was sent must not run into the refusal. A client that reads so slowly sees only the end of
  // the connection.
  if (at->second.outbox.empty()) at->second.outbox.add(refusal(why));
  flush(client);
  drop(client);
}

std::size_t AdminServer::pending(Client client) const {
  const auto at = clients_.find(client);
  return at == clients_.end() ? 0 : at->second.outbox.size();
}

void AdminServer::drop(Client client) {
  const auto at = clients_.find(client);
  if (at == clients_.end()) return;
  loop_.unwatch(at->second.socket.number());
  clients_.erase(at);
  handlers_.gone(client);
}

void AdminServer::finish(Time until) {
  if (!acceptor_.has_value()) return;
  acceptor_.reset();
  unlink(path_.c_str());
  Poller poller;
  for (auto& [client, connection] : clients_) {
    loop_.unwatch(connection.socket.number());
    if (!connection.outbox.empty()) poller.add(connection.socket.number(), client, true, false);
  }
  const auto waits = [](const auto& one) { return !one.second.outbox.empty(); };
  std::array<Poller::Ready, 16> ready;
  while (now() < until && std::any_of(clients_.begin(), clients_.end(), waits)) {
    const std::size_t count = poller.wait(ready, until);
    for (std::size_t i = 0; i < count; ++i) {
      flush(ready[i].tag);
      if (pending(ready[i].tag) == 0) poller.remove(clients_.at(ready[i].tag).socket.number());
    }
  }
  clients_.clear();
}

}  // namespace lp::launch

#include "nodes/operators/line_listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/file.h"
#include "lp/base/text.h"
#include "nodes/dataflow/file_window.h"

namespace lp {
namespace {

constexpr std::uint64_t kListening = 0;  // tag of the socket that accepts; connections are numbered from 1
constexpr auto kLook = std::chrono::milliseconds(50);  // whether the node is to stop
constexpr std::size_t kReadBytes = std::size_t{1} << 16;

[[noreturn]] void fail(const std::string& what) { throw Error(ErrorKind::failed, what + ": " + std::strerror(errno)); }

// The bytes of the file up to its last line end: a process that was killed may have left half a line.
std::uint64_t whole_lines(const std::filesystem::path& path) {
  dataflow::FileWindow file(path.string());
  std::uint64_t end = 0;
  for (std::uint64_t at = 0; at < file.size();) {
    const std::string_view bytes = file.at(at);
    const std::size_t last = bytes.rfind('\n');
    if (last != std::string_view::npos) end = at + last + 1;
    at += bytes.size();
  }
  return end;
}

}  // namespace

LineListener::LineListener(Context& node, ListenOptions options) : options_(std::move(options)) {
  if (options_.log.empty()) throw Error(ErrorKind::failed, "a line listener needs a directory for its log");
  std::filesystem::create_directories(options_.log);
  open_log();
  listen(node.incarnation() > 1);
}

void LineListener::open_log() {
  const std::filesystem::path path = options_.log / "lines";
  log_ = Descriptor(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  if (!log_ || ::ftruncate(log_.number(), static_cast<off_t>(whole_lines(path))) != 0) fail(path.string());
}

void LineListener::listen(bool again) {
  const std::filesystem::path file = options_.log / ".port";
  if (!again) std::filesystem::remove(file);  // another run has left it, whose port others may have now
  const std::string before = read_text_if_any(file, 64).value_or("0");  // that an earlier incarnation had
  const auto wanted = options_.port != 0 ? options_.port : static_cast<std::uint16_t>(std::atoi(before.c_str()));
  socket_ = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int yes = 1;
  if (!socket_ || ::setsockopt(socket_.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) != 0) fail("a socket");
  ::sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(wanted);
  const std::string name = options_.address + ":" + std::to_string(wanted);
  if (::inet_pton(AF_INET, options_.address.c_str(), &address.sin_addr) != 1) {
    throw Error(ErrorKind::failed, options_.address + " is no IPv4 address");
  }
  auto* const any = reinterpret_cast<::sockaddr*>(&address);
  ::socklen_t size = sizeof(address);
  if (::bind(socket_.number(), any, size) != 0 || ::listen(socket_.number(), SOMAXCONN) != 0 ||
      ::getsockname(socket_.number(), any, &size) != 0) {
    fail("cannot listen at " + name);
  }
  port_ = ntohs(address.sin_port);
  write_file(file, std::to_string(port_) + "\n");
  poller_.add(socket_.number(), kListening);
}

void LineListener::run(Context& node) {
  std::array<Poller::Ready, 64> ready;
  while (!node.stopping()) {
    const std::size_t count = poller_.wait(ready, after(kLook));
    if (full_) accept();
    for (std::size_t i = 0; i < count; ++i) {
      if (ready[i].tag == kListening) {
        accept();
      } else {
        read(ready[i].tag);
      }
    }
    if (options_.connections == 0 || ended_ < options_.connections) continue;
    if (!options_.until.empty()) write_file(options_.until, "");
    return;
  }
}

void LineListener::accept() {
  Descriptor one(::accept4(socket_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  const bool full = !one && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM);
  if (full != full_) be_full(full);
  if (!one) return;  // none waits, or there is no room for it
  poller_.add(one.number(), ++accepted_);
  connections_[accepted_].socket = std::move(one);
}

// While it has no room the socket is not watched: it would stay ready, and wake the listener for ever. Another accept()
// is tried when a client has sent something or gone, and after each look.
void LineListener::be_full(bool full) {
  full_ = full;
  if (full) {
    log_line("the line listener has no room for more clients (" + std::string(std::strerror(errno)) +
             "): they wait until others have gone; a higher `ulimit -n` gives more");
    poller_.remove(socket_.number());
  } else {
    log_line("the line listener takes clients again");
    poller_.add(socket_.number(), kListening);
  }
}

void LineListener::read(std::uint64_t tag) {
  const auto at = connections_.find(tag);
  if (at == connections_.end()) return;
  Connection& connection = at->second;
  std::array<char, kReadBytes> bytes;
  const ssize_t size = ::recv(connection.socket.number(), bytes.data(), bytes.size(), 0);
  const int error = errno;
  if (size < 0 && (error == EAGAIN || error == EINTR)) return;
  if (size > 0) {
    const std::string_view more(bytes.data(), static_cast<std::size_t>(size));
    const std::size_t end = more.rfind('\n') + 1;  // 0 when there is none
    if (end > 0) write(std::exchange(connection.rest, {}).append(more.substr(0, end)));
    connection.rest.append(more.substr(end));
    if (connection.rest.size() <= kLongestLine) return;
    constexpr std::string_view kRefusal = "lp: the line is longer than 64 MiB, and is not taken\n";
    ::send(connection.socket.number(), kRefusal.data(), kRefusal.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    connection.rest.clear();  // and the connection ends
  }
  if (!connection.rest.empty() && size < 0) {
    log_line("a client's connection to the line listener broke (" + std::string(std::strerror(error)) +
             ") within a line, which is not taken");
  } else if (!connection.rest.empty()) {
    write(connection.rest + '\n');
  }
  poller_.remove(connection.socket.number());
  connections_.erase(at);
  ++ended_;
}

void LineListener::write(const std::string& lines) {
  if (!write_all(log_.number(), lines)) fail((options_.log / "lines").string() + " cannot be written");
}

}  // namespace lp

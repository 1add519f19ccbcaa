#include "launchers/http/http_server.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <exception>
#include <utility>

namespace lp::launch {
namespace {

std::string chunk_of(std::string_view bytes) {
  std::array<char, 16> size;
  const auto end = std::to_chars(size.data(), size.data() + size.size(), bytes.size(), 16).ptr;
  return std::string(size.data(), end) + "\r\n" + std::string(bytes) + "\r\n";
}

}  // namespace

HttpServer::HttpServer(Options options, EventLoop& loop, Handler handler)
    : options_(std::move(options)),
      loop_(loop),
      handler_(std::move(handler)),
      acceptor_(listen_at(options_.at), loop, [this](Descriptor socket) { accept(std::move(socket)); }) {}

HttpServer::~HttpServer() {
  while (!clients_.empty()) drop(clients_.begin()->first);
}

void HttpServer::accept(Descriptor socket) {
  const Client client = ++last_;
  const int fd = socket.number();
  Connection& to = clients_[client];
  to.socket = std::move(socket);
  loop_.watch(fd, [this, client](EventLoop::Ready ready) { handle(client, ready); });
  deadlines_.set(client, after(kRequestTime));
  if (clients_.size() > kClients) make_room(client);
  if (clients_.size() > kClients) {
    send(client, to, http_refusal(503, "this server has " + std::to_string(kClients) + " other clients: try later"));
  }
  if (clients_.size() > 2 * kClients) drop(client);  // many refused clients have not closed their connections yet
}

// Half a request costs its client nothing, so it must not keep others out: drops the oldest client but `newest` whose
// request has not arrived.
void HttpServer::make_room(Client newest) {
  const auto reads = [](const auto& one) { return one.second.stage == Stage::reading; };
  while (clients_.size() > kClients) {
    const auto oldest = std::find_if(clients_.begin(), clients_.end(), reads);
    const Client client = oldest->first;
    if (client == newest) return;
    receive(client, oldest->second);  // the rest may have just come
    if (const auto at = clients_.find(client); at != clients_.end() && reads(*at)) drop(client);
  }
}

void HttpServer::handle(Client client, EventLoop::Ready ready) {
  if (const auto at = clients_.find(client); at != clients_.end() && ready.writable) flush(client, at->second);
  if (const auto at = clients_.find(client); at != clients_.end() && ready.readable) receive(client, at->second);
}

void HttpServer::receive(Client client, Connection& from) {
  std::array<char, 16384> bytes;
  const ssize_t got = recv(from.socket.number(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return drop(client);
  if (from.stage != Stage::reading) return;  // the server does not read beyond the request
  from.began = true;
  from.inbox.append(bytes.data(), static_cast<std::size_t>(got));
  read(client, from);
}

void HttpServer::read(Client client, Connection& from) {
  from.inbox.erase(0, from.reader.read(from.inbox));
  if (from.reader.must_continue()) {
    from.outbox.add("HTTP/1.1 100 Continue\r\n\r\n");
    from.outbox.send_now(from.socket.number());
  }
  std::optional<HttpRequest> request = from.reader.take();
  if (request.has_value()) return serve(client, from, *std::move(request));
  if (from.reader.refusal().has_value()) send(client, from, *from.reader.refusal());
}

void HttpServer::serve(Client client, Connection& from, HttpRequest request) {
  from.stage = Stage::handling;
  from.chunks = request.chunks;
  from.head_only = request.method == "HEAD";
  if (from.head_only) request.method = "GET";
  deadlines_.set(client, after(kAnswerTime));
  if (const auto refusal = refusal_of_origin(request, options_.names)) return send(client, from, *refusal);
  if (const auto response = handled(client, request)) answer(client, *response);
}

std::optional<HttpResponse> HttpServer::handled(Client client, const HttpRequest& request) {
  try {
    return handler_(client, request);
  } catch (const std::exception& error) {
    return http_refusal(500, error.what());
  }
}

void HttpServer::answer(Client client, const HttpResponse& response) {
  const auto at = clients_.find(client);
  if (at != clients_.end() && at->second.stage == Stage::handling) send(client, at->second, response);
}

void HttpServer::send(Client client, Connection& to, const HttpResponse& response) {
  to.stage = Stage::sending;
  to.outbox.add(http_head(response, "Content-Length: " + std::to_string(response.body.size())));
  if (!to.head_only) to.outbox.add(response.body);
  deadlines_.set(client, after(kReadTime));
  flush(client, to);
}

void HttpServer::begin_stream(Client client, const HttpResponse& response) {
  const auto at = clients_.find(client);
  if (at == clients_.end() || at->second.stage != Stage::handling) return;
  Connection& to = at->second;
  if (to.head_only) return send(client, to, response);
  to.stage = Stage::streaming;
  deadlines_.cancel(client);
  // A client of HTTP/1.0 takes the end of the connection for the end of the body.
  to.outbox.add(http_head(response, to.chunks ? "Transfer-Encoding: chunked" : ""));
  write(client, response.body);
}

bool HttpServer::write(Client client, std::string_view bytes) {
  const auto at = clients_.find(client);
  if (at == clients_.end() || at->second.stage != Stage::streaming) return false;
  Connection& to = at->second;
  if (!bytes.empty()) to.outbox.add(to.chunks ? chunk_of(bytes) : std::string(bytes));  // an empty chunk is the last
  flush(client, to);
  return clients_.contains(client);
}

void HttpServer::end_stream(Client client) {
  const auto at = clients_.find(client);
  if (at == clients_.end() || at->second.stage != Stage::streaming) return;
  at->second.stage = Stage::sending;
  if (at->second.chunks) at->second.outbox.add("0\r\n\r\n");
  deadlines_.set(client, after(kReadTime));
  flush(client, at->second);
}

void HttpServer::flush(Client client, Connection& to) {
  if (!to.outbox.send_now(to.socket.number())) return drop(client);
  const bool all = to.outbox.empty();
  loop_.want_writable(to.socket.number(), !all);
  if (all) return sent_all(client, to);
  if (to.stage != Stage::streaming) return;
  if (to.outbox.size() > kBacklog) return drop(client);
  if (!deadlines_.has(client)) deadlines_.set(client, after(kReadTime));
}

void HttpServer::sent_all(Client client, Connection& to) {
  if (to.stage == Stage::streaming) deadlines_.cancel(client);
  if (to.stage != Stage::sending) return;
  // The client closes first: a connection that is closed with bytes unread would take the answer back.
  to.stage = Stage::closing;
  shutdown(to.socket.number(), SHUT_WR);
  deadlines_.set(client, after(kCloseTime));
}

void HttpServer::drop(Client client) {
  const auto at = clients_.find(client);
  if (at == clients_.end()) return;
  loop_.unwatch(at->second.socket.number());
  deadlines_.cancel(client);
  clients_.erase(at);
}

void HttpServer::advance(Time now) {
  while (const std::optional<Client> client = deadlines_.take(now)) {
    Connection& late = clients_.at(*client);
    if (late.stage == Stage::reading && late.began) {
      send(*client, late, http_refusal(408, "the request did not arrive in time"));
    } else if (late.stage == Stage::handling) {
      send(*client, late, http_refusal(504, "there is no answer yet: try again"));
    } else {
      drop(*client);
    }
  }
}

}  // namespace lp::launch

#pragma once
// A small HTTP/1.1 server in an event loop, for metrics and for pages of this user. One request per connection.
//
//   HttpServer server({.at = {.port = 9100}}, loop, [](HttpServer::Client, const HttpRequest& request) {
//     return request.path == "/metrics" ? HttpResponse{.body = render()} : http_refusal(404, "see /metrics");
//   });
//
// A handler that cannot answer yet returns nothing and answers later. It may also begin a stream, to which its owner
// writes until end() or until the client is gone. The server refuses pages of strangers (http_message.h). It drops a
// client that is slow, and gives every request a time. So no client can make it wait, or keep more than a bound.
//
// Its owner uses it in the loop's thread, and calls advance() when next() is due. Any thread may call the constructor.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launchers/http/http_address.h"
#include "launchers/http/http_message.h"
#include "launchers/os/acceptor.h"
#include "launchers/os/deadline_queue.h"
#include "launchers/os/event_loop.h"
#include "lp/base/descriptor.h"
#include "lp/base/function.h"
#include "lp/base/scheduler.h"

namespace lp::launch {

class HttpServer {
 public:
  static constexpr std::size_t kClients = 64;
  static constexpr std::size_t kBacklog = std::size_t{1} << 20;       // bytes of a stream that its client has not taken
  static constexpr Duration kRequestTime = std::chrono::seconds(10);  // for a request to arrive
  static constexpr Duration kAnswerTime = std::chrono::seconds(60);   // for the handler
  static constexpr Duration kReadTime = std::chrono::seconds(30);     // for the client to take what was written
  static constexpr Duration kCloseTime = std::chrono::seconds(2);     // for the client to close the connection

  using Client = std::uint64_t;  // names a connection, and so its one request
  using Handler = Function<std::optional<HttpResponse>(Client, const HttpRequest&)>;
  struct Options {
    HttpAddress at{};
    std::vector<std::string> names{};  // names of this host, beside localhost, that a browser may use
  };

  // Throws Error when it cannot listen. An exception of the handler is an answer with its text.
  HttpServer(Options options, EventLoop& loop, Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Where it listens, with the true port.
  const HttpAddress& address() const { return options_.at; }

  // Answers a request whose handler returned nothing. Does nothing when the client is gone.
  void answer(Client client, const HttpResponse& response);
  // Answers with the head and the body of `response`, to which write() adds.
  void begin_stream(Client client, const HttpResponse& response);
  // Returns false when there is no such stream any more.
  bool write(Client client, std::string_view bytes);
  void end_stream(Client client);

  // When advance() is due.
  Time next() const { return deadlines_.next(); }
  void advance(Time now);

 private:
  enum class Stage : std::uint8_t { reading, handling, streaming, sending, closing };
  struct Connection {
    Descriptor socket{};
    Stage stage = Stage::reading;
    HttpRequestReader reader{};
    std::string inbox{};
    Outbox outbox{};
    bool began = false;      // some bytes of the request have come
    bool head_only = false;  // the answer goes without its body
    bool chunks = true;
  };

  void accept(Descriptor socket);
  void make_room(Client newest);
  void handle(Client client, EventLoop::Ready ready);
  void receive(Client client, Connection& from);
  void read(Client client, Connection& from);
  void serve(Client client, Connection& from, HttpRequest request);
  std::optional<HttpResponse> handled(Client client, const HttpRequest& request);
  void send(Client client, Connection& to, const HttpResponse& response);
  void flush(Client client, Connection& to);
  void sent_all(Client client, Connection& to);
  void drop(Client client);

  Options options_;
  EventLoop& loop_;
  Handler handler_;
  DeadlineQueue<Client> deadlines_;
  Client last_ = 0;
  std::map<Client, Connection> clients_;
  Acceptor acceptor_;
};

}  // namespace lp::launch

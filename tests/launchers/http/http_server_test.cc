// The HTTP server over real sockets: its answers, its streams, and the clients that it refuses or drops.

#include "launchers/http/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <vector>

#include "tests/error_of.h"

namespace lp::launch {
namespace {

constexpr auto kTestTime = std::chrono::seconds(30);

class HttpTest : public testing::Test {
 protected:
  // A client whose answers come through the loop of the server.
  class Browser {
   public:
    Browser(EventLoop& loop, int port, bool reads = true)
        : loop_(loop), socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), reads_(reads) {
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      address.sin_port = htons(static_cast<std::uint16_t>(port));
      EXPECT_EQ(connect(socket_.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
      if (reads) loop_.watch(socket_.number(), [this](EventLoop::Ready) { receive(); });
    }
    ~Browser() {
      if (reads_ && !ended) loop_.unwatch(socket_.number());
    }
    void send(std::string_view bytes) const {
      EXPECT_EQ(::send(socket_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
    }
    // The connection was cut off while this client did not read.
    bool cut_off() const {
      std::array<char, 65536> bytes;
      ssize_t got = 1;
      while (got > 0) got = recv(socket_.number(), bytes.data(), bytes.size(), MSG_DONTWAIT);
      return got == 0 || errno == ECONNRESET;
    }

    std::string text{};
    bool ended = false;

   private:
    void receive() {
      std::array<char, 65536> bytes;
      const ssize_t got = recv(socket_.number(), bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (got > 0) {
        text.append(bytes.data(), static_cast<std::size_t>(got));
        return;
      }
      ended = true;
      loop_.unwatch(socket_.number());
      socket_ = Descriptor();
    }

    EventLoop& loop_;
    Descriptor socket_;
    bool reads_;
  };

  std::optional<HttpResponse> handle(HttpServer::Client client, const HttpRequest& request) {
    last_ = client;
    requests_.push_back(request);
    if (request.path == "/later") return std::nullopt;
    if (request.path == "/stream") {
      server_.begin_stream(client, {.type = "text/event-stream", .body = "data: 1\n\n"});
      return std::nullopt;
    }
    if (request.path == "/broken") throw std::runtime_error("the handler is broken");
    return HttpResponse{.body = request.method + " " + request.path + " " + request.body,
                        .fields = {{"X-Color", "green"}}};
  }

  template <class Condition>
  void until(Condition condition) {
    const Time end = after(kTestTime);
    while (!condition()) {
      ASSERT_LT(now(), end);
      loop_.wait(end);
      loop_.dispatch();
    }
  }

  std::unique_ptr<Browser> browser(bool reads = true) {
    return std::make_unique<Browser>(loop_, server_.address().port, reads);
  }
  std::string ask(std::string_view request) {
    const auto asking = browser();
    asking->send(request);
    until([&] { return asking->ended; });
    return asking->text;
  }
  std::string get(const std::string& path, const std::string& more = "", const std::string& host = "localhost:80") {
    return ask("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n" + more + "\r\n");
  }

  EventLoop loop_;
  std::vector<HttpRequest> requests_;
  HttpServer::Client last_ = 0;
  HttpServer server_{{.names = {"Lab-3.example.org"}},
                     loop_,
                     [this](HttpServer::Client client, const HttpRequest& request) { return handle(client, request); }};
};

TEST_F(HttpTest, ARequestIsAnsweredAndTheConnectionEnds) {
  EXPECT_EQ(get("/a%20b?x=1+2&y=%26&z", "Cookie: a\r\nCOOKIE: b\r\n"),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 9\r\nConnection: close\r\n"
            "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
            "X-Color: green\r\n\r\nGET /a b ");
  ASSERT_EQ(requests_.size(), 1U);
  EXPECT_EQ(requests_[0].path, "/a b");
  EXPECT_EQ(requests_[0].asked("x"), "1 2");
  EXPECT_EQ(requests_[0].asked("y"), "&");
  EXPECT_TRUE(requests_[0].query.contains("z"));
  EXPECT_EQ(requests_[0].field("cookie"), "a, b");
  EXPECT_EQ(requests_[0].field("accept"), "");
}

TEST_F(HttpTest, ABodyComesInAnyPieces) {
  const auto answer_to_pieces = [this](const std::string& request) {
    const auto asking = browser();
    for (const char c : request) {
      asking->send(std::string(1, c));
      loop_.wait(after(kTestTime));
      loop_.dispatch();
    }
    until([&] { return asking->ended; });
    return asking->text.substr(asking->text.rfind('\n') + 1);
  };
  const std::string head = "POST /stop HTTP/1.1\r\nHost: [::1]:5\r\n";
  EXPECT_EQ(answer_to_pieces(head + "Content-Length: 4\r\n\r\nword"), "POST /stop word");
  const std::string chunked = head + "Transfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(answer_to_pieces(chunked + "2\r\nwo\r\n2\r\nrd\r\n0\r\n\r\n"), "POST /stop word");
  EXPECT_EQ(answer_to_pieces(chunked + "0\r\n\r\n"), "POST /stop ");
  EXPECT_EQ(answer_to_pieces(chunked + "0\r\nA: b\r\n\r\n"), "POST /stop ");
  EXPECT_TRUE(
      ask("POST / HTTP/1.1\r\nHost: 10.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n")
          .ends_with("\r\n\r\nPOST / abc"));
}

TEST_F(HttpTest, AClientThatWaitsForLeaveToSendItsBodyGetsIt) {
  const auto asking = browser();
  asking->send("PUT / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  until([&] { return asking->text == "HTTP/1.1 100 Continue\r\n\r\n"; });
  asking->send("ok");
  until([&] { return asking->ended; });
  EXPECT_TRUE(asking->text.ends_with("\r\n\r\nPUT / ok"));
}

TEST_F(HttpTest, ARequestWithTwoHostsIsRefused) {
  EXPECT_TRUE(ask("GET /x HTTP/1.1\r\nHost: localhost:1\r\nHost: evil.example\r\n\r\n").starts_with("HTTP/1.1 400"));
}

TEST_F(HttpTest, AHeadComesWithoutItsBody) {
  const std::string answer = ask("HEAD /x HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_NE(answer.find("Content-Length: 7\r\n"), std::string::npos);
  EXPECT_TRUE(answer.ends_with("\r\n\r\n"));
}

TEST_F(HttpTest, AnAnswerMayComeLaterAndOnlyOnce) {
  const auto asking = browser();
  asking->send("GET /later HTTP/1.1\r\nHost: localhost\r\n\r\n");
  until([&] { return last_ != 0; });
  EXPECT_EQ(asking->text, "");
  server_.answer(last_, {.status = 404, .body = "one"});
  server_.answer(last_, {.body = "two"});
  until([&] { return asking->ended; });
  EXPECT_TRUE(asking->text.starts_with("HTTP/1.1 404 Not Found\r\n"));
  EXPECT_TRUE(asking->text.ends_with("\r\n\r\none"));
  server_.answer(last_, {.body = "three"});
  server_.answer(1000, {.body = "nobody"});
}

TEST_F(HttpTest, AnExceptionOfTheHandlerIsAnAnswer) {
  const std::string answer = get("/broken");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 500 "));
  EXPECT_TRUE(answer.ends_with("the handler is broken\n"));
}

TEST_F(HttpTest, AStreamGoesOnUntilItsEnd) {
  const auto asking = browser();
  asking->send("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  until([&] { return asking->text.ends_with("\r\n\r\n9\r\ndata: 1\n\n\r\n"); });
  EXPECT_NE(asking->text.find("Transfer-Encoding: chunked\r\n"), std::string::npos);
  EXPECT_TRUE(server_.write(last_, "data: 2\n\n"));
  EXPECT_TRUE(server_.write(last_, ""));  // is no end
  server_.end_stream(last_);
  EXPECT_FALSE(server_.write(last_, "data: 3\n\n"));
  until([&] { return asking->ended; });
  EXPECT_TRUE(asking->text.ends_with("9\r\ndata: 2\n\n\r\n0\r\n\r\n"));
}

TEST_F(HttpTest, AnOldClientGetsAStreamWithoutChunks) {
  const auto asking = browser();
  asking->send("GET /stream HTTP/1.0\r\nHost: localhost\r\n\r\n");
  until([&] { return asking->text.ends_with("\r\n\r\ndata: 1\n\n"); });
  server_.end_stream(last_);
  until([&] { return asking->ended; });
}

TEST_F(HttpTest, AStreamThatNobodyReadsIsDropped) {
  const auto silent = browser(/*reads=*/false);
  silent->send("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  until([&] { return last_ != 0; });
  const std::string part(10000, 'x');
  int parts = 0;
  while (server_.write(last_, part)) ASSERT_LT(++parts, 2000);
  EXPECT_GT(parts, 100);
  EXPECT_TRUE(silent->cut_off());
}

TEST_F(HttpTest, AStreamWhoseClientTakesTooLongIsDropped) {
  const auto silent = browser(/*reads=*/false);
  silent->send("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  until([&] { return last_ != 0; });
  server_.advance(after(std::chrono::hours(1)));  // a stream without anything to say may last
  const std::string part(10000, 'x');
  while (server_.next() == kNever) ASSERT_TRUE(server_.write(last_, part));
  server_.advance(after(HttpServer::kReadTime - std::chrono::seconds(5)));
  EXPECT_TRUE(server_.write(last_, "more"));
  server_.advance(after(HttpServer::kReadTime));
  EXPECT_FALSE(server_.write(last_, "more"));
}

TEST_F(HttpTest, AStreamWhoseClientIsGoneEnds) {
  auto asking = browser();
  asking->send("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  until([&] { return !asking->text.empty(); });
  asking.reset();
  until([&] { return !server_.write(last_, "data: 2\n\n"); });
}

TEST_F(HttpTest, OnlyOwnNamesAndOriginsAreServed) {
  for (const std::string host :
       {"localhost", "LocalHost:1", "127.0.0.1:9", "[::1]", "[fe80::1]:80", "lab-3.EXAMPLE.org:4"}) {
    EXPECT_TRUE(get("/", "", host).starts_with("HTTP/1.1 200 ")) << host;
  }
  for (const std::string host :
       {"evil.example.com", "localhost.evil.com:80", "127.0.0.1.evil.com", "[::1].evil.com", "1.2.3", "::1"}) {
    EXPECT_TRUE(get("/", "", host).starts_with("HTTP/1.1 403 ")) << host;
  }
  EXPECT_TRUE(get("/", "Origin: http://LOCALHOST:80\r\n").starts_with("HTTP/1.1 200 "));
  for (const std::string origin :
       {"http://localhost", "http://localhost:81", "http://evil.com", "null", "localhost:80"}) {
    EXPECT_TRUE(get("/", "Origin: " + origin + "\r\n").starts_with("HTTP/1.1 403 ")) << origin;
  }
  EXPECT_TRUE(ask("GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 400 "));
  EXPECT_EQ(requests_.size(), 7U);  // the handler sees nothing of the others
}

TEST_F(HttpTest, WhatIsNoRequestIsRefused) {
  for (const std::string bytes :
       {"nonsense\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET / HTTP/1.1\r\nHost localhost\r\n\r\n",
        "GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET /%zz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /%00 HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET /?a=%1 HTTP/1.1\r\nHost: localhost\r\n\r\n"}) {
    EXPECT_TRUE(ask(bytes).starts_with("HTTP/1.1 400 Bad Request\r\n")) << bytes;
  }
  EXPECT_TRUE(get("/" + std::string(HttpRequestReader::kLongestHead, 'a')).starts_with("HTTP/1.1 431 "));
  EXPECT_TRUE(ask("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 70000\r\n\r\n" + std::string(70000, 'a'))
                  .starts_with("HTTP/1.1 413 "));
  EXPECT_TRUE(requests_.empty());
}

TEST_F(HttpTest, ARequestAndItsAnswerHaveATime) {
  const auto silent = browser();
  const auto slow = browser();
  slow->send("GET /");
  const auto waits = browser();
  waits->send("GET /later HTTP/1.1\r\nHost: localhost\r\n\r\n");
  until([&] { return last_ == 3; });
  server_.advance(after(HttpServer::kRequestTime));
  until([&] { return silent->ended && slow->ended; });
  EXPECT_EQ(silent->text, "");
  EXPECT_TRUE(slow->text.starts_with("HTTP/1.1 408 "));
  EXPECT_EQ(waits->text, "");
  server_.advance(after(HttpServer::kAnswerTime));
  until([&] { return waits->ended; });
  EXPECT_TRUE(waits->text.starts_with("HTTP/1.1 504 "));
}

TEST_F(HttpTest, AnAnswerThatNobodyTakesIsDropped) {
  const auto silent = browser(/*reads=*/false);
  silent->send("GET /later HTTP/1.1\r\nHost: localhost\r\n\r\n");
  until([&] { return last_ != 0; });
  server_.answer(last_, {.body = std::string(std::size_t{16} << 20, 'x')});
  server_.advance(after(HttpServer::kReadTime));
  EXPECT_EQ(server_.next(), kNever);
  EXPECT_TRUE(silent->cut_off());
}

TEST_F(HttpTest, MoreClientsThanFitAreRefused) {
  std::vector<std::unique_ptr<Browser>> present;
  for (std::size_t i = 0; i < HttpServer::kClients; ++i) {
    present.push_back(browser());
    present.back()->send("GET /later HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  const auto late = browser();
  until([&] { return late->ended; });
  EXPECT_TRUE(late->text.starts_with("HTTP/1.1 503 "));
  present.pop_back();
  EXPECT_TRUE(get("/").starts_with("HTTP/1.1 200 "));
  for (const auto& one : present) EXPECT_FALSE(one->ended);
}

TEST_F(HttpTest, ClientsThatKeepTheirRequestsBackKeepNobodyOut) {
  std::vector<std::unique_ptr<Browser>> present;
  for (std::size_t i = 0; i < HttpServer::kClients; ++i) {
    present.push_back(browser());
    if (i % 2 == 0) present.back()->send("GET / HTTP/1.1\r\n");
  }
  EXPECT_TRUE(get("/").starts_with("HTTP/1.1 200 "));
  until([&] { return present.front()->ended; });
  EXPECT_EQ(present.front()->text, "");
  for (std::size_t i = 1; i < present.size(); ++i) EXPECT_FALSE(present[i]->ended) << i;
  present.back()->send("GET /rest HTTP/1.1\r\nHost: localhost\r\n\r\n");
  until([&] { return present.back()->ended; });
  EXPECT_TRUE(present.back()->text.ends_with("GET /rest "));
}

TEST_F(HttpTest, APortInUseIsAnErrorThatSaysWhatToDo) {
  const std::string port = std::to_string(server_.address().port);
  EXPECT_EQ(test::error_of([&] { HttpServer({.at = server_.address()}, loop_, nullptr); }),
            "cannot listen at 127.0.0.1, port " + port +
                ": another program has the port; choose another one, or 0 for a free one");
  EXPECT_NE(
      test::error_of([&] { HttpServer({.at = {.address = "192.0.2.1"}}, loop_, nullptr); }).find("no such address"),
      std::string::npos);
}

TEST(HttpAddress, IsAPortWithAnAddressOrWithout) {
  EXPECT_EQ(url_of(read_http_address("0")), "http://127.0.0.1:0");
  EXPECT_EQ(url_of(read_http_address("0.0.0.0:9100")), "http://0.0.0.0:9100");
  EXPECT_EQ(url_of(read_http_address("[::1]:65535")), "http://[::1]:65535");
  for (const char* text : {"", "x", "65536", "-1", ":80", "host:80", "::1:80", "1.2.3.4:", "[]:1", "80 ", "[::1]"}) {
    EXPECT_NE(test::error_of([&] { read_http_address(text); }).find("is no place to listen"), std::string::npos)
        << text;
  }
}

}  // namespace
}  // namespace lp::launch

// The server of the page over real sockets: only with its token, only from its own page.

#include "tools/lp/ui/ui_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>

#include "lp/base/descriptor.h"
#include "tests/directory.h"
#include "tests/launchers/tools_for_test.h"
#include "tests/tools/lp/ui/run_for_test.h"

namespace lp::test {
namespace {

class UiServerTest : public testing::Test {
 protected:
  UiServerTest() {
    setenv("XDG_STATE_HOME", directory_.path().c_str(), 1);
    leave_run_for_page(directory_.path() / "lp/runs/training-1");
  }
  ~UiServerTest() override { end(); }

  void begin(bool read_only = false) {
    server_.emplace(tool::UiServer::Options{.read_only = read_only});
    const std::string url = server_->url();
    const std::size_t colon = url.rfind(':');
    port_ = url.substr(colon + 1, url.find('/', colon) - colon - 1);
    token_ = url.substr(url.find('=') + 1);
    thread_ = spawn("page", [this] { server_->run(); });
    while (!answers()) {
    }
  }
  void end() {
    if (!server_.has_value()) return;
    ::kill(getpid(), SIGTERM);
    thread_.join();
    EXPECT_TRUE(server_->close(after(std::chrono::seconds(20))));
    server_.reset();
  }

  // The whole answer to a request; with the field of the token, or with other fields.
  std::string send(const std::string& line, const std::string& fields) {
    const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const timeval limit{.tv_sec = 30, .tv_usec = 0};
    setsockopt(socket.number(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(port_)));
    EXPECT_EQ(connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    const bool named = fields.find("Host:") != std::string::npos;
    const std::string text =
        line + " HTTP/1.1\r\n" + (named ? "" : "Host: 127.0.0.1:" + port_ + "\r\n") + fields + "\r\n";
    EXPECT_EQ(::send(socket.number(), text.data(), text.size(), MSG_NOSIGNAL), std::ssize(text));
    std::string answer;
    std::array<char, 65536> bytes;
    while (true) {
      const ssize_t got = recv(socket.number(), bytes.data(), bytes.size(), 0);
      if (got <= 0) return answer;
      answer.append(bytes.data(), static_cast<std::size_t>(got));
    }
  }
  std::string get(const std::string& path) { return send("GET " + path, "X-Lp-Token: " + token_ + "\r\n"); }
  static int code_of_answer(const std::string& answer) { return std::stoi("0" + answer.substr(9, 3)); }
  static bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  std::string token_;
  std::string port_;

 private:
  bool answers() { return code_of_answer(send("GET /", "")) == 403; }

  const Directory directory_{};
  std::optional<tool::UiServer> server_;
  Thread thread_;
};

TEST_F(UiServerTest, WithoutTheTokenThereIsNothing) {
  begin();
  std::string wrong = token_;
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  for (const std::string& path :
       {std::string("/"), "/?token=" + wrong, std::string("/?token="), std::string("/api/runs"),
        "/api/runs?token=" + token_, "/page?token=" + token_, std::string("/api/live?run=last")}) {
    const std::string answer = send("GET " + path, "");
    EXPECT_EQ(code_of_answer(answer), 403) << path;
    EXPECT_FALSE(contains(answer, "training")) << path;
    EXPECT_FALSE(contains(answer, token_)) << path;
  }
  EXPECT_EQ(code_of_answer(send("GET /api/runs", "X-Lp-Token: " + wrong + "\r\n")), 403);
  EXPECT_EQ(code_of_answer(send("POST /api/stop?run=last&token=" + token_, "Content-Length: 0\r\n")), 403);
  EXPECT_EQ(code_of_answer(send("POST /?token=" + token_, "Content-Length: 0\r\n")), 403);
}

TEST_F(UiServerTest, StrangersGetNothingAlsoWithTheToken) {
  begin();
  const std::string field = "X-Lp-Token: " + token_ + "\r\n";
  EXPECT_EQ(code_of_answer(send("GET /api/runs", field + "Origin: http://evil.example\r\n")), 403);
  EXPECT_EQ(code_of_answer(send("GET /?token=" + token_, "Host: evil.example\r\n")), 403);
  EXPECT_EQ(code_of_answer(send("GET /api/runs", field + "Host: evil.example:80\r\n")), 403);
  EXPECT_EQ(code_of_answer(send("GET /api/runs", field)), 200);
}

TEST_F(UiServerTest, ThePageHasAPolicyThatIsNewEachTime) {
  begin();
  const auto nonce = [&] {
    const std::string answer = send("GET /?token=" + token_, "");
    EXPECT_EQ(code_of_answer(answer), 200);
    const std::size_t at = answer.find("<script nonce=\"") + 15;
    std::string word = answer.substr(at, answer.find('"', at) - at);
    EXPECT_TRUE(contains(answer, "script-src 'nonce-" + word + "'"));
    EXPECT_FALSE(contains(answer.substr(answer.find("\r\n\r\n")), token_));
    return word;
  };
  EXPECT_NE(nonce(), nonce());
}

TEST_F(UiServerTest, ViewsAreAnsweredAndMistakesAreSentences) {
  begin();
  EXPECT_TRUE(contains(get("/api/runs"), "\"name\":\"training-1\""));
  EXPECT_TRUE(contains(get("/api/run?run=training-1"), "\"read_only\":false"));
  EXPECT_TRUE(contains(get("/api/checkpoints?run=training-1"), "\"checkpoints\":[]"));
  const std::string logs = get("/api/logs?run=training-1");
  EXPECT_TRUE(contains(logs, "\"logs\":[\"server\",")) << logs;
  EXPECT_TRUE(contains(logs, "{\"end\":true}")) << logs;
  const std::string none = get("/api/run?run=nothing");
  EXPECT_EQ(code_of_answer(none), 404);
  EXPECT_TRUE(contains(none, "there is no run \\\"nothing\\\"")) << none;
  EXPECT_EQ(code_of_answer(get("/api/secrets")), 404);
  EXPECT_EQ(code_of_answer(get("/api/why?run=training-1")), 409);
  const std::string field = "X-Lp-Token: " + token_ + "\r\nContent-Length: 0\r\n";
  EXPECT_TRUE(contains(send("POST /api/stop?run=training-1", field), "there is nothing to stop; it succeeded: done"));
  EXPECT_EQ(code_of_answer(send("POST /api/restart?run=training-1&node=server", field)), 409);
  EXPECT_EQ(code_of_answer(send("POST /api/restart?run=training-1&node=worker", field)), 409);  // a group
  EXPECT_EQ(code_of_answer(send("POST /api/restart?run=training-1&node=nobody", field)), 404);
  EXPECT_EQ(code_of_answer(send("POST /api/runs", field)), 404);
  EXPECT_EQ(code_of_answer(send("PUT /api/runs", field)), 405);
  EXPECT_EQ(code_of_answer(send("POST /api/stop?run=training-1&force=perhaps", field)), 400);
  EXPECT_TRUE(contains(get("/api/stop?run=training-1"), "/api/stop changes a run: POST it"));
}

TEST_F(UiServerTest, AReaderOfRunsChangesNothing) {
  begin(true);
  const std::string answer =
      send("POST /api/stop?run=training-1", "X-Lp-Token: " + token_ + "\r\nContent-Length: 0\r\n");
  EXPECT_EQ(code_of_answer(answer), 403);
  EXPECT_TRUE(contains(answer, "--read-only")) << answer;
  EXPECT_TRUE(contains(get("/api/run?run=training-1"), "\"read_only\":true"));
}

TEST_F(UiServerTest, APortThatIsTakenAndOneThatIsNoneAreSentences) {
  begin();
  const Ended taken = command("'" LP_COMMAND "' ui --port=" + port_);
  EXPECT_EQ(taken.code, 1);
  EXPECT_TRUE(contains(taken.output, "another program has the port")) << taken.output;
  const Ended none = command("'" LP_COMMAND "' ui --port=70000");
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(contains(none.output, "expected a number from 0 to 65535")) << none.output;
}

TEST_F(UiServerTest, StreamsEndWithTheServer) {
  begin();
  const Thread reader = spawn("reader", [this] { get("/api/live?run=training-1"); });
  EXPECT_TRUE(contains(get("/api/logs?run=training-1"), "{\"end\":true}"));
  end();
}

}  // namespace
}  // namespace lp::test

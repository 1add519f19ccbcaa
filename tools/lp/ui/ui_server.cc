#include "tools/lp/ui/ui_server.h"

#include <algorithm>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "launchers/os/signals.h"
#include "lp/base/error.h"
#include "lp/base/json.h"
#include "lp/base/secret.h"
#include "lp/base/text.h"
#include "tools/lp/command_error.h"
#include "tools/lp/ui/live_lines.h"
#include "tools/lp/ui/live_view.h"
#include "tools/lp/ui/log_view.h"
#include "tools/lp/ui/page.h"
#include "tools/lp/views/run_control.h"

namespace lp::tool {
namespace {

using launch::HttpRequest;
using launch::HttpResponse;

constexpr std::size_t kTokenBytes = 16;
constexpr const char* kJson = "application/json";

HttpResponse json_response(unsigned status, std::string body) {
  return {.status = status, .type = kJson, .body = std::move(body), .fields = {}};
}

unsigned status_of(Exit code) {
  switch (code) {
    case Exit::usage: return 400;
    case Exit::unknown: return 404;
    case Exit::not_live: return 409;
    case Exit::timed_out: return 504;
    case Exit::done:
    case Exit::failed: break;
  }
  return 500;
}

bool is_change(std::string_view path) { return path == "/api/stop" || path == "/api/restart"; }

bool says_yes(const HttpRequest& request, const std::string& name) {
  const std::string_view said = request.asked(name);
  if (said.empty() || said == "no") return false;
  if (said == "yes") return true;
  throw CommandError(Exit::usage, name + " is yes or no, not " + quote(said));
}

RunLocation run_of(const HttpRequest& request) { return find_run(std::string(request.asked("run"))); }

}  // namespace

// Hands the lines of a pool's thread to the loop, which alone may use the server.
class UiServer::Stream : public LineSink {
 public:
  Stream(UiServer& server, Client client) : server_(server), client_(client), state_(std::make_shared<State>()) {
    state_->closed = server.closed_;
  }
  ~Stream() override {
    server_.loop_.post([&server = server_.server_, client = client_] { server.end_stream(client); });
  }

  bool write(std::string line) override {
    line += '\n';
    server_.loop_.post([&server = server_.server_, client = client_, state = state_, text = std::move(line)] {
      if (!server.write(client, text)) state->leave();
    });
    return !state_->left();
  }
  bool wait(Duration duration) override {
    const Time until = after(duration);
    while (!state_->left() && !passed(until)) state_->event.wait(std::min(until, after(kAsk)));
    return !state_->left() && write({});
  }

 private:
  static constexpr auto kAsk = std::chrono::milliseconds(500);  // whether the server closes

  // The loop may still have lines when the stream is gone.
  struct State {
    std::shared_ptr<std::atomic<bool>> closed{};
    std::atomic<bool> gone = false;
    Event event{};

    bool left() const { return gone || *closed; }
    void leave() {
      gone = true;
      event.set();
    }
  };

  UiServer& server_;
  const Client client_;
  const std::shared_ptr<State> state_;
};

UiServer::UiServer(Options options)
    : options_(options),
      token_(secret_text(kTokenBytes)),
      server_({.at = {.port = options.port}, .names = {}}, loop_,
              [this](Client client, const HttpRequest& request) { return handle(client, request); }),
      closed_(std::make_shared<std::atomic<bool>>(false)),
      pool_("lp ui") {}

UiServer::~UiServer() { *closed_ = true; }

std::string UiServer::url() const { return url_of(server_.address()) + "/?token=" + token_; }

int UiServer::run() {
  launch::SignalPoller signals;
  int signal = 0;
  loop_.watch(signals.fd(), [&](launch::EventLoop::Ready) { signal = signals.take(); });
  while (signal == 0) {
    loop_.wait(server_.next());
    loop_.dispatch();
    server_.advance(now());
  }
  loop_.unwatch(signals.fd());
  return signal;
}

bool UiServer::close(Time until) {
  *closed_ = true;
  return pool_.drain(until);
}

std::optional<HttpResponse> UiServer::handle(Client client, const HttpRequest& request) {
  const bool is_page = request.path == "/" && request.method == "GET";
  // Only the page takes it from its address: a browser sends a field of this name for no other page.
  const std::string_view token = is_page ? request.asked("token") : request.field("x-lp-token");
  if (!same_secret(token, token_)) return launch::http_refusal(403, "lp ui: the address needs its token");
  if (is_page) return page();
  if (request.method != "GET" && request.method != "POST") {
    return launch::http_refusal(405, "lp ui answers GET and POST alone");
  }
  if (options_.read_only && request.method == "POST") {
    return json_response(403, trouble_line("lp ui was started with --read-only"));
  }
  if (request.path == "/api/live" || request.path == "/api/logs") {
    stream(client, request);
  } else {
    answer_later(client, request);
  }
  return std::nullopt;
}

HttpResponse UiServer::page() const {
  const std::string nonce = secret_text(kTokenBytes);
  return {.type = "text/html; charset=utf-8",
          .body = page_text(nonce),
          .fields = {{"content-security-policy", page_policy(nonce)}, {"x-frame-options", "DENY"}}};
}

void UiServer::answer_later(Client client, const HttpRequest& request) {
  pool_.run([this, client, request] {
    HttpResponse response;
    try {
      response = json_response(200, answer_to(request));
    } catch (const CommandError& error) {
      response = json_response(status_of(error.code()), trouble_line(error.what()));
    } catch (const std::exception& error) {
      response = json_response(500, trouble_line(error.what()));
    }
    loop_.post([this, client, answer = std::move(response)] { server_.answer(client, answer); });
  });
}

std::string UiServer::answer_to(const HttpRequest& request) {
  if (request.method == "POST") return change(request);
  const std::string& path = request.path;
  if (path == "/api/runs") return runs_.json();
  if (path == "/api/run") return run_json(run_of(request), options_.read_only);
  if (path == "/api/why") return why_json(run_of(request));
  if (path == "/api/curves") return curves_json(run_of(request));
  if (path == "/api/checkpoints") return checkpoints_json(run_of(request));
  if (is_change(path)) throw CommandError(Exit::usage, path + " changes a run: POST it");
  throw CommandError(Exit::unknown, "lp ui has no " + path);
}

std::string UiServer::change(const HttpRequest& request) {
  if (!is_change(request.path)) throw CommandError(Exit::unknown, "lp ui has no POST " + request.path);
  RunView run = view_of(run_of(request));
  std::string done;
  if (request.path == "/api/stop") {
    done = stop_run(run, {.by = this_user("lp ui"),
                          .reason = std::string(request.asked("reason")),
                          .force = says_yes(request, "force"),
                          .patience = 0});
  } else {
    done = restart_node(run, std::string(request.asked("node")), says_yes(request, "force"));
  }
  JsonWriter json;
  json.begin_object();
  json.member("done", done);
  json.end_object();
  return std::move(json).text();
}

void UiServer::stream(Client client, const HttpRequest& request) {
  server_.begin_stream(client, {.type = "application/x-ndjson", .body = {}, .fields = {}});
  pool_.run([this, client, request] {
    Stream out(*this, client);
    try {
      const RunLocation run = run_of(request);
      if (request.path == "/api/live") {
        show_live(run, out);
      } else {
        LogRequest logs{.pattern = std::string(request.asked("grep")),
                        .ignore_case = request.asked("ignore_case") == "yes"};
        if (!request.asked("node").empty()) logs.nodes.emplace_back(request.asked("node"));
        show_logs(run, logs, out);
      }
    } catch (const std::exception& error) {
      out.write(trouble_line(error.what()));
    }
    out.write(R"({"end":true})");
  });
}

}  // namespace lp::tool

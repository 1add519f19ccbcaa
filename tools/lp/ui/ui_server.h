#pragma once
// Serves the page that shows runs in a browser, and what the page asks for. The address of the page has a token, which
// nobody can guess; the page sends it with each request, in the field x-lp-token. Without the token there is nothing.
//
// Requests are handled in threads of a pool, because a run may be slow to answer, or be reached by ssh. One thread owns
// the server and calls run().

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "launchers/http/http_server.h"
#include "launchers/os/event_loop.h"
#include "lp/base/scheduler.h"
#include "tools/lp/ui/run_views.h"

namespace lp::tool {

class UiServer {
 public:
  struct Options {
    int port = 0;            // 0: a free one
    bool read_only = false;  // runs cannot be stopped, nor nodes restarted
  };

  // Throws Error when it cannot listen.
  explicit UiServer(Options options);
  ~UiServer();
  UiServer(const UiServer&) = delete;
  UiServer& operator=(const UiServer&) = delete;

  // The address of the page, with the token.
  std::string url() const;
  // Serves until a signal comes, which it returns.
  int run();
  // Ends all streams. Returns false when a request still waits for a run at `until`.
  bool close(Time until);

 private:
  class Stream;
  using Client = launch::HttpServer::Client;

  std::optional<launch::HttpResponse> handle(Client client, const launch::HttpRequest& request);
  launch::HttpResponse page() const;
  void answer_later(Client client, const launch::HttpRequest& request);
  std::string answer_to(const launch::HttpRequest& request);
  static std::string change(const launch::HttpRequest& request);
  void stream(Client client, const launch::HttpRequest& request);

  const Options options_;
  const std::string token_;
  RunList runs_;
  launch::EventLoop loop_;
  launch::HttpServer server_;
  std::shared_ptr<std::atomic<bool>> closed_;  // streams share it, which end when it is set
  Pool pool_;                                  // the last member: its destructor waits for the tasks
};

}  // namespace lp::tool

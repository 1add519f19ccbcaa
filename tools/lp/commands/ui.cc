// lp ui: serves a page that shows runs in a browser.

#include <charconv>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/json.h"
#include "tools/lp/command.h"
#include "tools/lp/ui/ui_server.h"

namespace lp::tool {
namespace {

constexpr auto kEndTime = std::chrono::seconds(2);  // for requests that wait for a run

int port_of(const std::string& text) {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port < 0 || port > 65535) {
    throw CommandError(Exit::usage, "--port=" + text + ": expected a number from 0 to 65535");
  }
  return port;
}

}  // namespace

int ui_command(const Arguments& arguments, Screen& screen) {
  UiServer server(
      {.port = arguments.has("port") ? port_of(arguments.value("port")) : 0, .read_only = arguments.has("read-only")});
  if (arguments.has("json")) {
    JsonWriter json;
    json.begin_object();
    json.member("url", server.url());
    json.end_object();
    screen.write(std::move(json).text() + "\n");
  } else {
    screen.write("The page is at " + server.url() + "\n" +
                 "Its address is a key to your runs: keep it to yourself. Ctrl-C ends it.\n");
  }
  const int signal = server.run();
  // A run that does not answer cannot keep the command.
  if (!server.close(after(kEndTime))) std::_Exit(128 + signal);
  return code_of(Exit::done);
}

}  // namespace lp::tool

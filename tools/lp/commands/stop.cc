// lp stop and lp restart: the commands that change a live run.

#include <string>
#include <utility>

#include "lp/base/json.h"
#include "tools/lp/command.h"
#include "tools/lp/run_text.h"
#include "tools/lp/views/run_control.h"

namespace lp::tool {

int stop_command(const Arguments& arguments, Screen& screen) {
  const Stop stop{.by = this_user("lp stop"),
                  .reason = arguments.value("reason"),
                  .force = arguments.has("force"),
                  .patience = arguments.seconds("timeout", 60)};
  RunView run = view_of(find_run(arguments.words()[0]));
  const std::string done = stop_run(run, stop);
  JsonWriter json;
  if (arguments.has("json")) write_run(json, run);
  screen.write(
      (arguments.has("json") ? std::move(json).text() : Screen::clean(run.place.name) + ": " + Screen::clean(done)) +
      "\n");
  return code_of(Exit::done);
}

int restart_command(const Arguments& arguments, Screen& screen) {
  const RunView run = view_of(find_run(arguments.words()[0]));
  const std::string done = restart_node(run, arguments.words()[1], arguments.has("force"));
  if (arguments.has("json")) {
    JsonWriter json;
    json.begin_object();
    json.member("run", run.place.name);
    json.member("done", done);
    json.end_object();
    screen.write(std::move(json).text() + "\n");
  } else {
    screen.write(Screen::clean(done) + "\n");
  }
  return code_of(Exit::done);
}

}  // namespace lp::tool

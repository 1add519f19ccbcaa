// lp list: prints a line for each run.

#include <string>

#include "lp/base/json.h"
#include "tools/lp/command.h"
#include "tools/lp/run_text.h"
#include "tools/lp/runs.h"
#include "tools/lp/table.h"

namespace lp::tool {

int list_command(const Arguments& arguments, Screen& screen) {
  Table table({{"RUN", Cut::middle},
               {"PROGRAM", Cut::end},
               {"STATE"},
               {"NODES", Cut::never, true},
               {"AGE", Cut::never, true},
               {"RESULT", Cut::end}});
  JsonWriter json;
  json.begin_array();
  for (const RunLocation& place : all_runs()) {
    RunView run{.place = place};
    std::string trouble;
    try {
      run = view_of(place);
    } catch (const CommandError& error) {  // one run is unreadable; the others are shown
      trouble = error.what();
    }
    if (arguments.has("json")) {
      write_run(json, run, trouble);
    } else {
      table.add(
          {Screen::clean(place.name), Screen::clean(run.record.program), trouble.empty() ? state_of(run) : "unreadable",
           is_over(run) ? std::to_string(run.status.nodes.size()) : ready_text(run.status), age_text(run),
           Screen::clean(trouble.empty() ? outcome_of(run) : trouble)},
          colour_of(run));
    }
  }
  json.end_array();
  if (arguments.has("json")) {
    screen.write(json.text() + "\n");
  } else if (table.size() == 0) {
    screen.write("There is no run yet: start one with `lp run BINARY`.\n");
  } else {
    screen.write(table.text(screen.width(), screen.colours()));
  }
  return code_of(Exit::done);
}

}  // namespace lp::tool

// prints: lp: a field of this configuration has the name of a flag that every program has
// shows: curve
#include "launchers/main.h"

struct Config {
  int workers = 4;
  double curve = 0.5;
};

lp::Program make_program(const Config&) { return lp::Program("job"); }

int main(int argc, char** argv) { return lp::main<Config>(argc, argv, make_program); }

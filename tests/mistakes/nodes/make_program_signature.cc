// prints: lp: make_program is called with (const Config&), and returns an lp::Program
#include "launchers/main.h"

struct Config {
  int workers = 4;
};

lp::Program make_program(Config&) { return lp::Program("job"); }

int main(int argc, char** argv) { return lp::main<Config>(argc, argv, make_program); }

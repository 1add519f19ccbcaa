// prints: lp: a configuration is an aggregate
#include "launchers/main.h"

struct Config {
  Config() {}
  int workers = 4;
};

lp::Program make_program(const Config&) { return lp::Program("job"); }

int main(int argc, char** argv) { return lp::main<Config>(argc, argv, make_program); }

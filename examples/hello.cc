// The smallest program: guests call a greeter.
//
//   build/examples/hello
//   build/examples/hello --launch=processes --guests=5

#include <cstdio>
#include <string>

#include "launchers/main.h"
#include "lp/lp.h"

struct Config {
  int guests = 3;
};

class Greeter {
 public:
  std::string greet(const std::string& guest) { return "Hello, " + guest + "!"; }

  using Remote = lp::Methods<&Greeter::greet>;  // the methods that others may call
};

lp::Program make_program(const Config& config) {
  lp::Program program("hello");
  const auto greeter = program.add<Greeter>({.name = "greeter"});
  const auto visit = [](lp::Context& guest, lp::Client<Greeter> host) {
    std::printf("%s\n", host.call<&Greeter::greet>(guest.name()).c_str());
  };
  program.function({.name = "guest", .replicas = config.guests, .ends_program = true}, visit, greeter);
  return program;
}

int main(int argc, char** argv) { return lp::main<Config>(argc, argv, make_program); }

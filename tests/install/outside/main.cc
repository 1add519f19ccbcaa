// Uses lp from outside of its tree.

#include <iostream>

#include "lp/base/error.h"
#include "lp/base/scheduler.h"

int main() {
  lp::Event done;
  const lp::Thread thread = lp::spawn("outside", [&] { done.set(); });
  if (!done.wait(lp::after(std::chrono::seconds(10))))
    throw lp::Error(lp::ErrorKind::deadline, "the thread did not start");
  std::cout << "outside: ok\n";
}

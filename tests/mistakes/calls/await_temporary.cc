// prints: lp: co_await takes a future that has a name

#include "tests/mistakes/common.h"

struct Asking {
  lp::Future<int> ask(int version) {
    const std::vector<float> pulled = co_await server_.async<&Server::pull>(version);
    co_return static_cast<int>(pulled.size());
  }
  lp::Client<Server> server_;
};

#pragma once
// A service and a client of it, for the mistakes in this folder.

#include <vector>

#include "lp/program/program.h"

struct Update {
  float fitness = 0;
};

class Server {
 public:
  std::vector<float> pull(int version) const { return {static_cast<float>(version)}; }
  void push(const Update& update) { last_ = update; }
  void secret() {}
  using Remote = lp::Methods<&Server::pull, &Server::push>;

 private:
  Update last_{};
};

class Worker {
 public:
  Worker(lp::Client<Server> server, int index) : server_(server), index_(index) {}

 private:
  lp::Client<Server> server_;
  int index_;
};

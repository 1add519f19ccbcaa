#pragma once
// Records the reports of a Runtime's nodes, for tests that drive a Runtime themselves. Owned by the test; thread-safe.

#include <gtest/gtest.h>

#include "lp/program/runtime.h"

namespace lp {

class Nobody final : public Runtime::Observer {
 public:
  Event ready;  // a node is ready

 private:
  void on_event(NodeEvent event) override {
    if (std::holds_alternative<NodeEvent::Ready>(event.what)) ready.set();
    if (const auto* failed = std::get_if<NodeEvent::Failed>(&event.what)) ADD_FAILURE() << failed->error.what();
  }
};

}  // namespace lp

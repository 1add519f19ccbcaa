#pragma once
// Records the reports of a Runtime's nodes, for tests that drive a Runtime themselves. Owned by the test; thread-safe.

#include <gtest/gtest.h>

#include "lp/program/runtime.h"

namespace lp {

class Nobody final : public Runtime::Observer {
 public:
  Event ready;  // a node is ready

 private:
  void on_ready(NodeId, std::uint32_t) override { ready.set(); }
  void on_finished(NodeId, std::uint32_t, const std::vector<LastAnswer>&) override {}
  void on_failed(NodeId, std::uint32_t, const Error& error) override { ADD_FAILURE() << error.what(); }
  void on_stop_requested(NodeId, const std::string&) override {}
  void on_progress(NodeId, const Progress&) override {}
  void on_saved(NodeId, std::uint64_t) override {}
  void on_not_saved(NodeId, std::uint64_t, const Error&) override {}
};

}  // namespace lp

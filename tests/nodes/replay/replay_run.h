#pragma once
// A group of replay servers in this process, and steps whose values show where they come from. Owned by the test.

#include <optional>
#include <utility>

#include "lp/program/program.h"
#include "nodes/replay/sampler.h"
#include "nodes/replay/server.h"
#include "nodes/replay/trajectory_writer.h"
#include "tests/lp/program/local_run.h"

namespace lp::replay {

// A step is a number and two values that follow from it.
inline Columns test_columns() { return {column<std::uint64_t>("number"), column<float>("values", 2)}; }

template <class S = Server>
class ReplayRun {
 public:
  explicit ReplayRun(ServerOptions options, int servers = 1, Runtime::Options runtime = {}) {
    const auto handle =
        program_.template group<S>({.name = "replay", .replicas = servers}, context, std::move(options));
    run_.emplace(program_, std::move(runtime));
    clients_.emplace(run_->client(handle));
  }
  explicit ReplayRun(TableOptions table, int servers = 1)
      : ReplayRun(ServerOptions{.tables = {std::move(table)}}, servers) {}

  LocalRun& run() { return *run_; }
  const Clients<S>& clients() const { return *clients_; }
  const Client<S>& client(std::size_t i = 0) const { return (*clients_)[i]; }

 private:
  Program program_{"replay"};
  std::optional<LocalRun> run_{};
  std::optional<Clients<S>> clients_{};
};

inline void append(TrajectoryWriter& writer, std::uint64_t number) {
  const std::array<float, 2> values{static_cast<float>(number), -static_cast<float>(number)};
  writer.append(number, values);
}

// The number of a step of a sampled item, after a check of its other values.
inline std::uint64_t number_at(const Batch& batch, std::size_t i, std::size_t step) {
  const std::uint64_t number = batch.get<std::uint64_t>(i, step, "number")[0];
  const auto values = batch.get<float>(i, step, "values");
  EXPECT_EQ(values[0], static_cast<float>(number));
  EXPECT_EQ(values[1], -static_cast<float>(number));
  return number;
}

// Calls f and returns the Error that it throws.
template <class F>
Error error_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return Error(ErrorKind::failed, "no error");
}

}  // namespace lp::replay

#pragma once
// Federated averaging (McMahan et al., "Communication-efficient learning of deep networks from decentralized data",
// AISTATS 2017, algorithm 1). Every client has examples of its own, which stay with it. A round selects clients. Each
// starts from the same model and goes through its examples for some epochs. The next model is the mean of theirs,
// weighted by the numbers of their examples.
//
//     worker/0 ─┬─▶ rounds
//     worker/1 ─┤
//     ...       ┘
//
// Values; pure functions.

#include <cstdint>
#include <functional>
#include <vector>

#include "nodes/parameters/federated_server.h"
#include "programs/training/training.h"

namespace lp {

struct Federated {
  double share = 0.5;        // C: the share of the clients that a round selects; at least one client
  std::uint64_t epochs = 1;  // E: epochs of a client in a round
  // 0: clients have random examples (IID). Else all examples are sorted by their labels and split into `label_shards`
  // shards for each client, and each client gets random ones.
  std::uint32_t label_shards = 0;
  Duration patience = std::chrono::seconds(60);  // how long a round waits for a client that does not answer
  // Makes, from the program's seed, the function that is called with the parameters after every round. The training
  // ends when it returns true.
  std::function<Reached(std::uint64_t seed)> reached{};
};

// The examples of a client. All clients together have each example once. The numbers of their examples differ by one at
// most, or by one for each shard. With more clients or shards than examples some have none. Error::failed when there
// are no examples.
std::vector<std::uint32_t> client_examples(const Dataset& data, WorkerRank client, std::uint32_t label_shards,
                                           std::uint64_t seed);

// Adds the node "rounds", and the group "worker" of training.workers clients. The training's steps are rounds, its
// batch is that of a client (B), and its rule is that of a client, whose optimizer begins every round without state. A
// client that fails is restarted up to training.restarts times; without restarts, the rounds go on without it.
TrainingGraph add_federated_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                     const Federated& federated = {});

}  // namespace lp

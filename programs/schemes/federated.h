#pragma once
// Federated averaging (McMahan et al., "Communication-efficient learning of deep networks from decentralized data",
// AISTATS 2017, algorithm 1). Every client has examples of its own, which stay with it. A round selects clients; each
// goes through its examples for some epochs, from the same model, and the next model is the mean of theirs, weighted by
// the numbers of their examples.
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
  double share = 0.5;        // C: of the clients, how many a round selects, one at least
  std::uint64_t epochs = 1;  // E: of a client in a round
  // 0: clients have random examples (IID). Else all examples are sorted by their labels and cut into so many shards for
  // each client, which gets random ones.
  std::uint32_t label_shards = 0;
  Duration patience = std::chrono::seconds(60);  // a round goes on without a client that does not answer for so long
  // Makes, from the program's seed, what is asked of the parameters after every round, and ends the training when it
  // says true.
  std::function<Reached(std::uint64_t seed)> reached{};
};

// Which examples a client has: all clients together have each once, and their numbers differ by one at most, or by one
// for each shard. With more clients or shards than examples some have none. Error::failed when there are no examples.
std::vector<std::uint32_t> client_examples(const Dataset& data, Place client, std::uint32_t label_shards,
                                           std::uint64_t seed);

// Adds the node "rounds", and the group "worker" of training.workers clients. The training's steps are rounds, its
// batch is that of a client (B), and its rule is that of a client, which begins every round without a past. A client
// that fails is restarted as often as the training says; without restarts, the rounds go on without it.
TrainingGraph add_federated_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                     const Federated& federated = {});

}  // namespace lp

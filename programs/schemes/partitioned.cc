#include "programs/schemes/partitioned.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "nodes/parameters/optimizer.h"
#include "programs/training/rows.h"

namespace lp {

void CreditScheduler::add(std::uint32_t partition, std::uint64_t rank, std::uint64_t bytes) {
  waiting_.emplace(std::pair(rank, added_++), Waiting{partition, bytes});
}

std::optional<std::uint32_t> CreditScheduler::next() {
  if (waiting_.empty()) return std::nullopt;
  const auto first = waiting_.begin();
  const Waiting chosen = first->second;
  if (in_flight_ > 0 && in_flight_ + chosen.bytes > credit_) return std::nullopt;
  waiting_.erase(first);
  in_flight_ += chosen.bytes;
  sent_[chosen.partition] = chosen.bytes;
  return chosen.partition;
}

void CreditScheduler::done(std::uint32_t partition) {
  const auto sent = sent_.find(partition);
  if (sent == sent_.end()) {
    throw Error(ErrorKind::failed, "partition " + std::to_string(partition) + " is done, but was not sent");
  }
  in_flight_ -= sent->second;
  sent_.erase(sent);
}

namespace {

struct Piece {
  std::size_t begin = 0;
  std::size_t size = 0;
};

std::vector<Piece> pieces_of(std::size_t parameters, const Partitioning& partitioning) {
  const std::size_t most = partitioning.bytes / sizeof(float);
  std::vector<Piece> pieces;
  for (std::size_t begin = 0; begin < parameters; begin += most) {
    pieces.push_back({begin, std::min(most, parameters - begin)});
  }
  return pieces;
}

class PartitionedExchange final : public Exchange {
 public:
  PartitionedExchange(const ExchangeParts& parts, const Partitioning& partitioning)
      : servers_(parts.servers),
        credit_(partitioning.credit),
        optimizer_{.rule = parts.training.rule},
        parameters_(parts.model.initialize(parts.seed)),
        sums_(parts.model.size()),
        batch_(static_cast<float>(parts.training.batch)),
        pieces_(pieces_of(static_cast<std::size_t>(parts.model.size()), partitioning)) {}

  std::uint64_t begin() override {
    if (const std::uint64_t wanted = servers_.position(); wanted != optimizer_.steps) {
      throw Error(ErrorKind::disconnected, "the parameters of this worker belong to step " +
                                               std::to_string(optimizer_.steps) + ", but the servers need step " +
                                               std::to_string(wanted) +
                                               ": the servers are being restored, or a step was lost");
    }
    servers_.set_version(optimizer_.steps);
    return optimizer_.steps;
  }
  const Eigen::VectorXf& parameters(std::uint64_t, const Rows&) override { return parameters_; }
  std::uint64_t push(std::uint64_t step, const Rows&, const BatchGradient& batch) override {
    CreditScheduler scheduler(credit_);
    // In the order of backpropagation: from the last layer to the first, which the next step needs first.
    for (std::size_t i = pieces_.size(); i-- > 0;) {
      scheduler.add(static_cast<std::uint32_t>(i), i, pieces_[i].size * sizeof(float));
    }
    struct Sent {
      std::uint32_t partition;
      ParameterClient::Request request;
    };
    std::deque<Sent> sent;
    while (!scheduler.idle()) {
      while (const auto partition = scheduler.next()) {
        const Piece& piece = pieces_[*partition];
        sent.push_back(
            {*partition, servers_.start_push(*partition, step, flat(batch.gradient).subspan(piece.begin, piece.size),
                                             /*examples=*/0, flat(sums_).subspan(piece.begin, piece.size))});
      }
      Sent first = std::move(sent.front());
      sent.pop_front();
      servers_.wait(std::move(first.request));
      scheduler.done(first.partition);
    }
    sums_ /= batch_;
    optimizer_.apply(flat(parameters_), flat(std::as_const(sums_)));
    return step + 1;
  }
  std::function<Parameters()> result() const override {
    return [learned = Parameters{.step = optimizer_.steps, .values = parameters_}] { return learned; };
  }
  void save(Checkpoint& out) const override {
    out.put("parameters", Array<float>::copy_of(flat(parameters_)));
    out.put("optimizer", optimizer_);
  }
  void load(const Checkpoint& in) override {
    const auto parameters = in.get<Array<float>>("parameters");
    auto optimizer = in.get<Optimizer>("optimizer");
    if (parameters.size() != flat(parameters_).size() || optimizer.rule.index() != optimizer_.rule.index()) {
      throw Error(ErrorKind::failed, "the checkpoint has " + std::to_string(parameters.size()) +
                                         " parameters and optimizer " + std::to_string(optimizer.rule.index()) +
                                         ", but this worker has " + std::to_string(parameters_.size()) +
                                         " and optimizer " + std::to_string(optimizer_.rule.index()) +
                                         ": resume with the same model and optimizer");
    }
    std::copy(parameters.begin(), parameters.end(), parameters_.begin());
    optimizer.rule = optimizer_.rule;
    optimizer_ = std::move(optimizer);
  }

 private:
  ParameterClient& servers_;
  const std::uint64_t credit_;
  Optimizer optimizer_;
  Eigen::VectorXf parameters_;
  Eigen::VectorXf sums_;
  const float batch_;
  const std::vector<Piece> pieces_;
};

}  // namespace

Scheme partitioned_scheme(const ServerTraining& training, const Partitioning& partitioning) {
  if (partitioning.bytes < sizeof(float)) {
    throw Error(ErrorKind::failed,
                "partitions of " + std::to_string(partitioning.bytes) + " bytes hold no parameter: give 4 or more");
  }
  static_cast<void>(training);
  return {.consistency = Synchronous{},
          .rule = Sum{.keep = 0},
          .learns_in_workers = true,
          .exchange =
              [partitioning](const ExchangeParts& parts) {
                return std::make_unique<PartitionedExchange>(parts, partitioning);
              },
          .tensors =
              [partitioning](const LearningTask& task, const ServerTraining& all) {
                const auto servers = static_cast<std::uint32_t>(all.servers);
                std::vector<Tensor> tensors;
                for (const Piece& piece : pieces_of(static_cast<std::size_t>(task.model()->size()), partitioning)) {
                  const auto owner = static_cast<std::uint32_t>(tensors.size() % servers);
                  tensors.push_back({.partition = Partition::whole(piece.size, servers, owner)});
                }
                return tensors;
              }};
}

}  // namespace lp

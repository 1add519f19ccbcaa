#pragma once
// An inference server whose versions another node publishes (lp/rpc/core/published.h):
//
//   struct Trainer {
//     lp::Published<lp::Array<float>> weights;
//     using Remote = lp::Methods<&Trainer::weights>;
//   };
//   using Digits = lp::PublishedServer<&Trainer::weights, Eigen::VectorXf, int>;
//
//   const auto make = [](const lp::Version<lp::Array<float>>& weights) {
//     return Digits::Model{
//         .version = weights.number(),
//         .answer = [weights](const std::vector<Eigen::VectorXf>& images) { return digits_by(*weights, images); }};
//   };
//   const auto servers = program.group<Digits>({.name = "server", .replicas = 2}, trainer, make, lp::ServingOptions{});
//
// The server looks for a newer version every `period`, and as soon as a request demands one. It makes the model of the
// new version while it serves by the old one. A model that keeps its Version holds it at the publisher, where the
// number of old versions is bounded; one that has copied its values does not. While the publisher is away, it serves on
// by the version that it has.
//
// A node: run() takes versions over, and a thread beside it computes. A restarted server begins with the newest
// version.

#include <exception>
#include <functional>
#include <utility>

#include "lp/program/context.h"
#include "lp/rpc/client.h"
#include "lp/rpc/node_thread.h"
#include "nodes/serving/inference_server.h"

namespace lp {
namespace internal {

template <class Member>
struct PublishedMember;
template <class S, class T>
struct PublishedMember<Published<T> S::*> {
  using Source = S;
  using Value = T;
};

}  // namespace internal

template <auto kPublished, Sendable Request, Sendable Reply>
class PublishedServer final : public InferenceServer<Request, Reply> {
  using Base = InferenceServer<Request, Reply>;

 public:
  using Member = internal::PublishedMember<std::remove_const_t<decltype(kPublished)>>;
  using Source = typename Member::Source;
  using Value = typename Member::Value;
  // Makes the model of a version. When it throws, the server refuses that version, and serves on by the one before.
  using MakeModel = std::function<typename Base::Model(const Version<Value>&)>;

  PublishedServer(Client<Source> source, MakeModel make, const ServingOptions& options,
                  Duration period = std::chrono::milliseconds(100))
      : Base(options), source_(std::move(source)), make_(std::move(make)), period_(period) {}

  void run(Context& node) {
    const Thread computes = spawn_in_node(node.name() + " batches", [this] {
      try {
        this->serve();
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::stopped) throw;
      }
    });
    for (rpc::VersionName known; !node.stopping(); this->wait_for_demand(period_)) follow(known);
  }

  using Remote = typename Base::Remote;

 private:
  void follow(rpc::VersionName& known) {
    try {
      const Version<Value> newest = source_.template read<kPublished>();
      if (newest.name() == known) return;
      known = newest.name();
      this->take_over(make_(newest));
    } catch (...) {
      const Error error = as_error(std::current_exception());
      if (error.kind() == ErrorKind::stopped) throw error;
      if (error.kind() != ErrorKind::disconnected) this->refuse_version(error.text());
    }
  }

  const Client<Source> source_;
  const MakeModel make_;
  const Duration period_;
};

}  // namespace lp

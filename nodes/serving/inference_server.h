#pragma once
// Answers requests by a model, in batches: a caller sends one request and gets one reply, and the model computes those
// of many callers at once. A caller gets `overloaded` at once when there is too little time for its answer.
//
//   using Digits = lp::InferenceServer<Eigen::VectorXf, int>;
//
//   const lp::Answer<int> answer = server.call<&Digits::ask>(image, 0U);  // by any version
//   server.within(std::chrono::milliseconds(20)).call<&Digits::ask>(image, answer.version);  // by that or a newer one
//
// Each batch is computed by one version, which its replies name. Another version is taken over between two batches; no
// request is lost or refused meanwhile. A request that demands a newer version waits for it.
//
// The base of nodes that have a model: PublishedServer (published_server.h) takes the versions that another node
// publishes. Requests come in their callers' threads, beside the turn; run() computes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/scheduler.h"
#include "lp/base/text.h"
#include "lp/rpc/core/call_context.h"
#include "lp/rpc/core/future.h"
#include "lp/rpc/core/method.h"
#include "nodes/serving/batch_queue.h"
#include "nodes/serving/finite.h"
#include "nodes/serving/served_model.h"
#include "nodes/serving/serving_statistics.h"

namespace lp {

struct ServingOptions {
  BatchOptions batch{};
  // A request that demands a newer version than the server has, also one that comes before the first version, waits so
  // long for it. Then it gets `overloaded`.
  Duration patience = std::chrono::seconds(10);
};

// The errors of a server.
Error wrong_number_of_replies(std::uint64_t version, std::size_t replies, std::size_t requests);
Error reply_is_not_finite(std::uint64_t version);
Error version_did_not_come(std::uint64_t demanded, const ServingStatistics& statistics);
Error shed_late();

template <Sendable Request, Sendable Reply>
class InferenceServer {
 public:
  using Model = ServedModel<Request, Reply>;

  // Error::failed when an option does not fit.
  explicit InferenceServer(const ServingOptions& options)
      : options_(options), queue_(options.batch), counter_(options.batch.most) {}
  virtual ~InferenceServer() = default;

  // The reply by the present version, which is at least `least_version`. Error::overloaded when it cannot come within
  // the call's time, when too many requests wait, and when that version does not come in time. Error::failed when the
  // model throws, or its reply has numbers that are not finite. It may run again: a caller that lost its server asks
  // another.
  Future<Answer<Reply>> ask(Request request, std::uint64_t least_version) {
    Asked asked{.request = std::move(request),
                .least_version = least_version,
                .came = now(),
                .deadline = rpc::call_deadline(),
                .promise = {}};
    Future<Answer<Reply>> answer = asked.promise.future();
    Refusals refusals;
    {
      const std::lock_guard lock(mutex_);
      ++counter_.all().asked;
      admit(std::move(asked), refusals);
    }
    send(refusals);
    return answer;
  }

  ServingStatistics statistics() const {
    const std::lock_guard lock(mutex_);
    return counter_.all();
  }

  using Remote = Methods<immediate<&InferenceServer::ask>, immediate<&InferenceServer::statistics>>;

 protected:
  // Batches that begin from now on are computed by this model. Any thread. Error::failed for one without `answer`.
  void take_over(Model model) {
    if (!model.answer) throw_failed("version " + std::to_string(model.version) + " of the model has no `answer`");
    Refusals refusals;
    ModelRef other = std::make_shared<const Model>(std::move(model));
    {
      const std::lock_guard lock(mutex_);
      model_.swap(other);  // the old one ends outside the lock
      counter_.all().version = model_->version;
      ++counter_.all().versions;
      counter_.all().problem.clear();
      for (Asked& one : std::exchange(held_, {})) admit(std::move(one), refusals);
    }
    send(refusals);
  }
  // Notes that a version could not be made: the server goes on with the one that it has.
  void refuse_version(const std::string& problem) {
    const std::lock_guard lock(mutex_);
    ++counter_.all().refused_versions;
    counter_.all().problem = problem;
  }
  // Waits until a request has come that demands a newer version, since the last call, but not longer than `longest`.
  void wait_for_demand(Duration longest) {
    Future<void> demanded;
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(demands_, false)) return;
      demanded = demand_.emplace().future();
    }
    demanded.wait_for(longest);
  }
  // Computes batches until the node is asked to stop, and then throws Error::stopped.
  [[noreturn]] void serve() {
    for (;;) {
      wait_for_batch();
      run_batch();
    }
  }

 private:
  struct Asked {
    Request request;
    std::uint64_t least_version = 0;
    Time came{};
    Time deadline{};
    Promise<Answer<Reply>> promise{};
  };
  using Requests = std::vector<Asked>;
  // Requests that end with an error, when the lock is free again.
  using Refusals = std::vector<std::pair<Promise<Answer<Reply>>, Error>>;
  using ModelRef = std::shared_ptr<const Model>;  // shared by the server and the batch that runs

  static void send(Refusals& refusals) {
    for (auto& [promise, error] : refusals) promise.set_error(error);
  }

  // With the lock held: puts a request where it belongs. Throws Error::overloaded, with the request unchanged.
  void enqueue(Asked&& asked) {
    if (model_ == nullptr || model_->version < asked.least_version) return hold(std::move(asked));
    const bool first = queue_.empty();
    const Time deadline = asked.deadline;
    queue_.add(std::move(asked), deadline, now());
    if (first || queue_.full()) wake(wake_);
  }
  void hold(Asked&& asked) {
    if (held_.size() >= options_.batch.room) refuse_without_room(options_.batch.room);
    held_.push_back(std::move(asked));
    demands_ = !wake(demand_);
    if (held_.size() == 1) wake(wake_);  // so that it is given up in time
  }
  void admit(Asked&& asked, Refusals& refusals) {
    try {
      enqueue(std::move(asked));
    } catch (const Error& error) {
      ++counter_.all().shed;
      refusals.emplace_back(std::move(asked.promise), error);
    }
  }
  static bool wake(std::optional<Promise<void>>& waiter) {
    if (!waiter) return false;
    std::exchange(waiter, std::nullopt)->set_value();
    return true;
  }

  void wait_for_batch() {
    for (;;) {
      Refusals refusals;
      Future<void> more;
      Time due;
      {
        const std::lock_guard lock(mutex_);
        due = std::min(queue_.due(), give_up_held(refusals));
        if (queue_.due() <= now()) return send(refusals);
        more = wake_.emplace().future();
      }
      send(refusals);
      more.wait_for(until(due));
    }
  }
  // With the lock held: lets the held requests go whose patience is over. Returns when the next one's is.
  Time give_up_held(Refusals& refusals) {
    Time next = kNever;
    for (Asked& one : std::exchange(held_, {})) {
      const Time end = std::min(later(one.came, options_.patience), one.deadline);
      if (passed(end)) {
        ++counter_.all().failed;
        refusals.emplace_back(std::move(one.promise), version_did_not_come(one.least_version, counter_.all()));
      } else {
        next = std::min(next, end);
        held_.push_back(std::move(one));
      }
    }
    return next;
  }

  void run_batch() {
    Refusals refusals;
    Requests batch;
    ModelRef model;
    {
      const std::lock_guard lock(mutex_);
      auto begun = queue_.begin(now());
      model = model_;
      for (Asked& one : begun.late) refusals.emplace_back(std::move(one.promise), shed_late());
      counter_.all().shed += begun.late.size();
      for (Asked& one : begun.items) {
        if (one.least_version > model->version) {
          admit(std::move(one), refusals);  // an older version was taken over meanwhile
        } else {
          batch.push_back(std::move(one));
        }
      }
    }
    send(refusals);
    compute(*model, std::move(batch));
  }

  void compute(const Model& model, Requests batch) {
    std::vector<Request> requests;
    Requests fitting;
    for (Asked& one : batch) {
      try {
        if (model.check) model.check(one.request);
        requests.push_back(std::move(one.request));
        fitting.push_back(std::move(one));
      } catch (...) {
        fail(one, as_error(std::current_exception()));
      }
    }
    std::vector<Reply> replies;
    std::optional<Error> error;
    try {
      if (!requests.empty()) replies = model.answer(requests);
      if (replies.size() != requests.size()) {
        error = wrong_number_of_replies(model.version, replies.size(), requests.size());
      }
    } catch (...) {
      error = as_error(std::current_exception());
    }
    finish(requests.size());
    for (std::size_t i = 0; i < fitting.size(); ++i) {
      if (error) {
        fail(fitting[i], *error);
      } else if (!is_finite(replies[i])) {
        fail(fitting[i], reply_is_not_finite(model.version));
      } else {
        succeed(fitting[i], {.version = model.version, .value = std::move(replies[i])});
      }
    }
  }
  void finish(std::size_t computed) {
    const std::lock_guard lock(mutex_);
    queue_.end(computed, now());
    if (computed > 0) counter_.batch(computed);
  }
  void fail(Asked& asked, const Error& error) {
    {
      const std::lock_guard lock(mutex_);
      ++counter_.all().failed;
    }
    asked.promise.set_error(error);
  }
  void succeed(Asked& asked, Answer<Reply> answer) {
    answer.took = now() - asked.came;
    {
      const std::lock_guard lock(mutex_);
      counter_.answered(answer.took);
    }
    asked.promise.set_value(std::move(answer));
  }

  const ServingOptions options_;
  mutable std::mutex mutex_{};
  BatchQueue<Asked> queue_;
  Requests held_{};  // they demand a newer version
  ServingCounter counter_;
  ModelRef model_{};
  std::optional<Promise<void>> wake_{};    // serve() waits
  std::optional<Promise<void>> demand_{};  // wait_for_demand() waits
  bool demands_ = false;                   // since the last wait_for_demand()
};

}  // namespace lp

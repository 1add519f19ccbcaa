#pragma once
// A cache in front of one method of another node: it keeps the method's answers, and calls it again when they are old.
//
//   using Loss = lp::Cacher<&Server::loss>;  // double loss(int step)
//
//   const auto loss = program.add<Loss>({.name = "loss"}, server, lp::CacheOptions{});
//
//   const double now = client.call<&Loss::get>(step);  // the arguments and the result are those of the method
//
// Callers that ask for the same arguments while the method is called wait for that one call. An error goes to those who
// wait, and is not kept. An answer that is not stale is also given while the method cannot be called.
//
// A node: its handlers run in its turn, and its run() calls the method.

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "lp/base/error.h"
#include "lp/program/context.h"
#include "lp/rpc/client.h"
#include "lp/rpc/core/future.h"
#include "lp/rpc/core/method.h"
#include "lp/wire/codec.h"
#include "nodes/run_queue.h"
#include "nodes/serving/cache.h"

namespace lp {
namespace internal {

template <auto kMethod>
using ServiceOf = typename rpc::Signature<std::remove_const_t<decltype(kMethod)>>::Service;
template <auto kMethod>
using CallTypes = rpc::TypesOf<ServiceOf<kMethod>, kMethod>;

}  // namespace internal

template <auto kMethod, class Parameters = typename internal::CallTypes<kMethod>::Params>
class Cacher;

template <auto kMethod, std::size_t... I, class... P>
class Cacher<kMethod, rpc::ArgumentList<std::index_sequence<I...>, P...>> {
 public:
  using S = internal::ServiceOf<kMethod>;
  using R = typename internal::CallTypes<kMethod>::Result;
  static_assert(!std::is_void_v<R>, "lp: lp::Cacher is for methods that return something");

  // Error::failed when an option does not fit.
  Cacher(Client<S> service, const CacheOptions& options) : service_(std::move(service)), cache_(options) {}

  // The method's answer to these arguments, which is not stale. Errors of the method.
  Future<R> get(P... arguments) {
    const std::string key = key_of(arguments...);
    auto found = cache_.find(key, now());
    if (found.call) begin_call(key, {std::move(arguments)...});
    return std::move(found.answer);
  }
  CacheStatistics statistics() const { return cache_.statistics(); }

  // Calls the method, with its own deadline and not that of a caller who waits, until the node is asked to stop.
  void run(Context& node) { calls_.run(node); }

  using Remote = Methods<&Cacher::get, &Cacher::statistics>;

 private:
  // Equal arguments have equal bytes.
  static std::string key_of(const P&... arguments) {
    Writer writer;
    (writer.value(arguments), ...);
    const Message message = writer.take();
    std::string key = text_of(message.body);
    for (const Buffer& array : message.arrays) key += std::to_string(array.bytes().size()) + ':' + text_of(array);
    return key;
  }
  static std::string text_of(const Buffer& buffer) {
    return {reinterpret_cast<const char*>(buffer.bytes().data()), buffer.bytes().size()};
  }

  void begin_call(const std::string& key, std::tuple<P...> arguments) {
    try {
      const Future<void> begun = calls_.add([this, key, arguments = std::move(arguments)]() mutable {
        const Time asked = now();
        const Future<void> done = answer_to(std::move(arguments)).then([this, key, asked](Future<R> answer) {
          settle(key, std::move(answer), asked);
        });
      });
    } catch (const Error& error) {
      cache_.failed(key, error);
    }
  }
  void settle(const std::string& key, Future<R> answer, Time asked) {
    try {
      cache_.answered(key, answer.get(), asked);
    } catch (const Error& error) {
      cache_.failed(key, error);
    }
  }
  Future<R> answer_to(std::tuple<P...> arguments) {
    try {
      return std::apply([this](P&... values) { return service_.template async<kMethod>(std::move(values)...); },
                        arguments);
    } catch (const Error& error) {
      Promise<R> promise;
      promise.set_error(error);
      return promise.future();
    }
  }

  const Client<S> service_;
  Cache<R> cache_;
  RunQueue calls_{};
};

}  // namespace lp

#pragma once
// One version of a model, as an inference server holds it: a function from a batch of requests to their replies. A
// value; the server calls it from one thread at a time.

#include <cstdint>
#include <functional>
#include <vector>

#include "lp/base/scheduler.h"

namespace lp {

template <class Request, class Reply>
struct ServedModel {
  std::uint64_t version = 0;
  // The replies to the requests, one each, in their order.
  std::function<std::vector<Reply>(const std::vector<Request>&)> answer{};
  // Throws for a request that `answer` cannot take, such as one of another shape: it then fails alone, and not with all
  // others of its batch. Empty: every request fits.
  std::function<void(const Request&)> check{};
};

template <class Reply>
struct Answer {
  std::uint64_t version = 0;  // that of the model that computed it
  Reply value{};
  Duration took{};  // the server had the request so long
};

}  // namespace lp

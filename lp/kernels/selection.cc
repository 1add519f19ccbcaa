#include "lp/kernels/selection.h"

#include <algorithm>

namespace lp::kernels {

BadSearch::BadSearch(Queue& queue)
    : queue_(&queue), positions_(queue, kPositions), few_(queue, kFew), least_(queue, 1) {}

void BadSearch::run(const float* values, std::uint64_t size) {
  const std::uint64_t positions = std::clamp<std::uint64_t>(size / 64, 1, kPositions);
  queue_->run(FindBad{.values = values, .size = size, .positions = positions, .found = positions_.data()});
  const std::uint64_t few = std::min(positions, kFew);
  queue_->run(LeastOf{.numbers = positions_.data(), .count = positions, .results = few, .least = few_.data()});
  queue_->run(LeastOf{.numbers = few_.data(), .count = few, .results = 1, .least = least_.data()});
}

TopK::TopK(Queue& queue, std::uint64_t size, std::uint64_t k)
    : queue_(&queue),
      k_(k),
      parts_{.size = size, .count = std::clamp<std::uint64_t>(size / kLeast, 1, kMostParts)},
      row_{.size = parts_.count, .count = std::min(parts_.count, kFew)},
      selection_(queue, 1),
      counts_(queue, kDigits * parts_.count),
      few_(queue, kDigits * row_.count),
      sums_(queue, kDigits),
      before_(queue, 2 * parts_.count),
      positions_(queue, k),
      kept_(queue, k) {}

void TopK::run(const float* values) {
  const Selection* const selection = selection_.data();
  queue_->run(BeginSelection{.selection = selection_.data(), .k = k_});
  for (unsigned digit = 0; digit < kTopKDigits; ++digit) {
    queue_->run(CountDigits{.values = values, .parts = parts_, .selection = selection, .counts = counts_.data()});
    queue_->run(SumRows<std::uint32_t>{.from = counts_.data(), .row = row_, .rows = kDigits, .to = few_.data()});
    queue_->run(SumRows<std::uint64_t>{
        .from = few_.data(), .row = {.size = row_.count, .count = 1}, .rows = kDigits, .to = sums_.data()});
    queue_->run(ChooseDigit{.counts = sums_.data(), .selection = selection_.data()});
  }
  queue_->run(CountKept{.values = values, .parts = parts_, .selection = selection, .counts = counts_.data()});
  queue_->run(SumRows<std::uint32_t>{.from = counts_.data(), .row = row_, .rows = 2, .to = few_.data()});
  queue_->run(PrefixSums{.numbers = few_.data(), .row = row_.count, .rows = 2});
  queue_->run(SpreadSums{.from = counts_.data(), .row = row_, .rows = 2, .before = few_.data(), .to = before_.data()});
  queue_->run(KeepTopK{.values = values,
                       .parts = parts_,
                       .selection = selection,
                       .before = before_.data(),
                       .positions = positions_.data(),
                       .kept = kept_.data()});
}

}  // namespace lp::kernels

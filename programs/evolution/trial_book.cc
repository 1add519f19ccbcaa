#include "programs/evolution/trial_book.h"

#include <algorithm>
#include <string>
#include <utility>

#include "lp/base/error.h"

namespace lp {

TrialBook::TrialBook(std::size_t trials, bool open, Duration lease) : trials_(trials), open_(open), lease_(lease) {
  begin();
}

void TrialBook::begin() {
  by_number_.assign(trials_, std::nullopt);
  results_ = 0;
  next_ = 0;
  again_.clear();
  given_.clear();
}

TrialRange TrialBook::give(std::uint32_t worker, std::size_t workers) {
  if (complete()) return {};
  const std::size_t left = open_ ? trials_ - results_ : trials_ - next_;
  TrialRange range;
  if (left > 0) {
    const std::size_t share = std::max<std::size_t>(left / (2 * std::max<std::size_t>(workers, 1)), 1);
    range = {.first = next_, .count = static_cast<std::uint32_t>(share)};
    next_ += range.count;
  } else if (const std::optional<TrialRange> again = next_again()) {
    range = *again;
  } else {
    return {};
  }
  given_.push_back({.worker = worker, .range = range, .until = after(lease_ * range.count)});
  return range;
}

std::optional<TrialRange> TrialBook::next_again() {
  while (!again_.empty()) {
    const TrialRange range = again_.back();
    again_.pop_back();
    if (!by_number_[range.first]) return range;
  }
  return std::nullopt;
}

void TrialBook::give_again(const Given& given) {
  if (open_) return;  // there are ever new ones
  for (std::uint32_t i = given.range.first; i < given.range.first + given.range.count; ++i) {
    if (!by_number_[i]) again_.push_back({.first = i, .count = 1});
  }
}

void TrialBook::take_back(std::uint32_t worker) {
  for (const Given& one : given_) {
    if (one.worker == worker && one.until != kNever) give_again(one);
  }
  std::erase_if(given_, [&](const Given& one) { return one.worker == worker; });
}

Duration TrialBook::take_back_late() {
  Time next = after(lease_);
  for (Given& one : given_) {
    if (passed(one.until)) {
      give_again(one);
      one.until = kNever;
    }
    next = std::min(next, one.until);
  }
  return std::max<Duration>(until(next), std::chrono::milliseconds(1));
}

bool TrialBook::put(std::uint32_t number, Trial trial) {
  if (!open_ && number >= trials_) {
    throw Error(ErrorKind::failed,
                "trial " + std::to_string(number) + " of a generation of " + std::to_string(trials_));
  }
  if (complete()) return false;
  std::optional<Trial>& place = by_number_[open_ ? results_ : number];
  if (place) return false;
  place = std::move(trial);
  ++results_;
  return true;
}

std::vector<Trial> TrialBook::take_results() {
  std::vector<Trial> out;
  for (std::optional<Trial>& one : by_number_) out.push_back(*std::exchange(one, std::nullopt));
  return out;
}

std::vector<std::pair<std::uint32_t, TrialRange>> TrialBook::given() const {
  std::vector<std::pair<std::uint32_t, TrialRange>> out;
  for (const Given& one : given_) out.emplace_back(one.worker, one.range);
  return out;
}

}  // namespace lp

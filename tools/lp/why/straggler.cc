#include "tools/lp/why/straggler.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tools/lp/rates.h"

namespace lp::tool {
namespace {

constexpr double kSlow = 2;         // a straggler takes this many times as long as the others
constexpr double kLeastCost = 0.1;  // the share of the time by which its work is longer
constexpr double kLeastCount = 10;  // calls or steps of the others, so that counts can be compared
constexpr double kLeastPart = 0.1;  // rarer calls do not say how fast a node is
constexpr double kSurely = 3;       // standard deviations that are no chance
constexpr double kLikely = 2;       // those of a bound

using Counts = std::map<std::string, double>;

// The greater one of the two in the middle.
double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

// The less one of the two in the middle.
double low_median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[(values.size() - 1) / 2];
}

double count_of(const Counts& counts, const std::string& kind) {
  const auto at = counts.find(kind);
  return at == counts.end() ? 0 : at->second;
}

struct Member {
  std::string name{};
  Share share{};
  Counts counts{};  // its steps, or its calls by kind

  double active() const { return std::max(1 - share.away, 0.0); }
};

double deviation(double share, double looks) {
  return looks > 0 ? std::sqrt(std::max(share * (1 - share), 0.0) / looks) : 1;
}

// The least share of the time that is its own: nobody keeps it. So few looks may have missed others who do.
double least_own(const Share& share) {
  const double elsewhere = std::min(share.kept + share.away, 1.0);
  const double missed = share.looks > 0 ? 1 / share.looks : 1;
  return std::max(1 - elsewhere - kLikely * deviation(elsewhere, share.looks) - missed, 0.0);
}

// The greatest share of their time that is the own one of the others.
double most_own(const std::vector<const Member*>& others) {
  double elsewhere = 0;
  double looks = 0;
  for (const Member* one : others) {
    elsewhere += std::min(one->share.kept + one->share.away, 1.0) / static_cast<double>(others.size());
    looks += one->share.looks;
  }
  return 1 - std::max(elsewhere - kLikely * deviation(elsewhere, looks), 0.0);
}

// The medians of what the others do often.
Counts usual_counts(const std::vector<const Member*>& others) {
  Counts usual;
  double all = 0;
  for (const Member* one : others) {
    for (const auto& [kind, count] : one->counts) usual[kind] = 0;
  }
  for (auto& [kind, median] : usual) {
    std::vector<double> counts;
    for (const Member* one : others) counts.push_back(count_of(one->counts, kind));
    all += median = low_median_of(std::move(counts));
  }
  std::erase_if(usual, [&](const auto& one) { return one.second < std::max(kLeastCount, kLeastPart * all); });
  return usual;
}

// Whether the member does the same as the others, and much more rarely.
std::optional<Straggler> rarer(const Member& member, const std::vector<const Member*>& others, bool steps) {
  const Counts usual = usual_counts(others);
  double all = 0;
  for (const auto& [kind, count] : member.counts) all += count;
  double own = 0;
  double theirs = 0;
  double fastest = 0;  // its rate of a kind of calls, compared with that of the others
  for (const auto& [kind, median] : usual) {
    const double count = count_of(member.counts, kind);
    std::vector<double> speeds;
    for (const Member* one : others) {
      if (one->active() > 0) speeds.push_back(count_of(one->counts, kind) / one->active());
    }
    const double speed = low_median_of(std::move(speeds));
    if (speed <= 0 || member.active() <= 0) return std::nullopt;
    fastest = std::max(fastest, count / member.active() / speed);
    own += count;
    theirs += speed * member.active();
  }
  if (own <= 0 || own < (1 - kLeastPart) * all) return std::nullopt;  // it stands, or does something else
  if (fastest * kSlow > 1 || theirs - own < kSurely * std::sqrt(theirs + own)) return std::nullopt;
  const double factor = 1 / fastest;
  // The time for a unit that is surely its own, compared with that of the others.
  double busy = 0;
  for (const Member* one : others) busy += one->active() / static_cast<double>(others.size());
  const double longer = factor * (least_own(member.share) / member.active()) / (most_own(others) / busy);
  const double seconds = std::max(member.share.seconds * member.active(), 1e-6);
  return Straggler{.node = member.name,
                   .factor = factor,
                   .steps = steps,
                   .others = others.size(),
                   .works = member.share.works,
                   .rate = own / seconds,
                   .others_rate = theirs / seconds,
                   .waits_more = longer < kSlow,
                   .kept = member.share.kept};
}

std::optional<Straggler> rarest(const std::vector<Member>& members, bool steps) {
  std::optional<Straggler> found;
  for (const Member& member : members) {
    std::vector<const Member*> others;
    for (const Member& one : members) {
      if (&one != &member) others.push_back(&one);
    }
    std::optional<Straggler> one = rarer(member, others, steps);
    if (!one.has_value()) continue;
    const bool surer = !found.has_value() || (found->waits_more && !one->waits_more);
    if (surer || (found->waits_more == one->waits_more && one->factor > found->factor)) found = std::move(one);
  }
  return found;
}

// The member whose code works longest for a unit.
std::optional<Straggler> busiest(const std::vector<Member>& members, bool steps) {
  struct Work {
    const Member* member;
    double units;
    double time;  // for a unit
  };
  std::vector<Work> works;
  for (const Member& one : members) {
    const double units = steps ? one.share.steps : one.share.units;
    if (units <= 0 || one.share.looks <= 0) return std::nullopt;
    works.push_back({&one, units, one.share.works / units});
  }
  const auto slowest =
      std::max_element(works.begin(), works.end(), [](const Work& a, const Work& b) { return a.time < b.time; });
  const Share& share = slowest->member->share;
  std::vector<double> times;
  std::vector<double> units;
  for (const Work& one : works) {
    if (&one == &*slowest) continue;
    times.push_back(one.time);
    units.push_back(one.units);
  }
  const double median = median_of(times);
  const double usual = median_of(units);
  const double known = std::max(median, 1 / share.looks / usual);  // the looks tell no less
  if (slowest->time < kSlow * known) return std::nullopt;
  if ((slowest->time - median) * slowest->units < kLeastCost) return std::nullopt;
  // The time for a unit if both were as fast, and what chance makes of it in so many looks.
  const double same = (share.works + median * usual) / (slowest->units + usual);
  const double own = deviation(std::min(same * slowest->units, 1.0), share.looks) / slowest->units;
  const double theirs = deviation(std::min(same * usual, 1.0), share.looks) / usual;
  if (slowest->time - median < kSurely * std::hypot(own, theirs)) return std::nullopt;
  return Straggler{.node = slowest->member->name,
                   .factor = slowest->time / known,
                   .at_least = median < known,
                   .steps = steps,
                   .others = times.size(),
                   .works = share.works};
}

}  // namespace

std::string Straggler::text() const {
  const std::string mates = " the other " + std::to_string(others) + " of its group";
  const std::string unit = steps ? "steps" : "calls";
  if (waits_more) {
    return node + " makes " + short_number(100 / factor) + " % of the " + unit + " of the median of" + mates +
           ", and waits for " + short_number(kept * 100) + " % of the time";
  }
  const std::string times = (at_least ? "at least " : "") + short_number(factor) + " times as long as" + mates;
  if (rate > 0) {
    return node + " is a straggler: " + (steps ? "a step" : "a call, with the work for it,") + " takes it " + times +
           "; it makes " + short_number(rate) + " " + unit + " a second, and the median of them " +
           short_number(others_rate);
  }
  return node + " is a straggler: " + (steps ? "a step" : "the work for a call") + " takes it " + times +
         "; it works for " + short_number(works * 100) + " % of the time";
}

std::optional<Straggler> straggler_of(std::span<const std::string> group, const std::map<std::string, Share>& shares) {
  if (group.size() < 3) return std::nullopt;  // nobody knows which of two is right
  std::vector<Member> members;
  for (const std::string& name : group) {
    const auto at = shares.find(name);
    members.push_back({.name = name, .share = at == shares.end() ? Share() : at->second});
  }
  const bool steps = std::all_of(members.begin(), members.end(), [](const Member& one) { return one.share.steps > 0; });
  for (Member& one : members) {
    one.counts = steps ? Counts{{"step", one.share.steps * one.share.seconds}} : one.share.calls;
  }
  std::optional<Straggler> slow = rarest(members, steps);
  if (slow.has_value() && !slow->waits_more) return slow;
  if (std::optional<Straggler> busy = busiest(members, steps)) return busy;
  return slow;
}

}  // namespace lp::tool

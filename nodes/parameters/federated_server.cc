#include "nodes/parameters/federated_server.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/random.h"
#include "lp/base/text.h"

namespace lp {

FederatedServer::FederatedServer(Context& context, Clients<Learner> members, RoundsOptions options)
    : context_(context),
      options_(std::move(options)),
      group_(std::move(members), [this] { members_changed(); }),
      state_(Array<float>::copy_of(options_.initial(context.program_seed()))),
      due_(after(options_.patience)) {
  if (group_.size() == 0 || !(options_.share >= 0 && options_.share <= 1)) {
    throw Error(ErrorKind::failed, std::to_string(options_.rounds) + " rounds with a share of " +
                                       std::to_string(options_.share) + " of " + std::to_string(group_.size()) +
                                       " members: give 1 or more members, and a share from 0 to 1");
  }
  if (options_.patience <= Duration::zero() || options_.patience >= Duration(kRoundTime)) {
    throw Error(ErrorKind::failed, "the patience of a round must be above 0 and below " + duration_text(kRoundTime));
  }
  over_ = options_.rounds == 0;
}

void FederatedServer::run(Context& node) {
  const Reached reached = options_.reached ? options_.reached(node.program_seed()) : nullptr;
  Duration pause = options_.patience;
  while (!node.exclusive([this] { return over_; })) {
    Future<void> news = node.exclusive([this] { return next_news(); });
    if (!news.get_for(pause)) {
      node.exclusive([this] { end_when_due(); });
    } else if (node.exclusive([this] { return judging_; })) {
      const bool enough = reached(node.exclusive([this] { return state_; }));
      node.exclusive([this, enough] { go_on(enough); });
    }
    pause = node.exclusive([this] { return std::max<Duration>(due_ - now(), std::chrono::milliseconds(1)); });
  }
}

Future<void> FederatedServer::next_news() {
  Future<void> news = news_.emplace().future();
  if (judging_ || over_) notify();
  return news;
}

void FederatedServer::notify() {
  if (news_) std::exchange(news_, std::nullopt)->set_value();
}

void FederatedServer::end_when_due() {
  if (now() < due_ || judging_ || over_) return;
  if (going_on_) {
    end_round();
  } else {
    begin_round();
  }
}

Future<Round> FederatedServer::next(std::uint32_t member, std::uint64_t examples) {
  Member& asking = members_[member];
  asking.examples = examples;
  if (over_ || (asking.selected && !asking.answered)) return ready(round_for(asking));
  asking.asks.emplace();
  Future<Round> answer = asking.asks->future();
  if (!going_on_ && !judging_) begin_when_all_ask();
  return answer;
}

void FederatedServer::begin_when_all_ask() {
  for (std::uint32_t member = 0; member < group_.size(); ++member) {
    if (!members_.contains(member) && !group_.is_gone(member)) return;
  }
  begin_round();
}

void FederatedServer::members_changed() {
  if (going_on_) {
    end_round_when_answered();
  } else if (!judging_ && !over_) {
    begin_when_all_ask();
  }
}

Round FederatedServer::round_for(const Member& member) const {
  Round out{.number = number_, .selected = member.selected, .over = over_};
  if (member.selected || over_) out.state = state_;
  return out;
}

// Selects m = max(C · K, 1) of the K members that have examples. The selection is a function of seed, round and
// members.
std::vector<std::uint32_t> FederatedServer::sample() const {
  std::vector<std::uint32_t> out;
  for (const auto& [member, has] : members_) {
    if (has.examples > 0 && !group_.is_gone(member)) out.push_back(member);
  }
  const auto wanted = static_cast<std::size_t>(std::lround(options_.share * static_cast<double>(out.size())));
  Random(context_.program_seed(), "rounds", number_).shuffle(std::span(out));
  out.resize(std::min(std::max<std::size_t>(wanted, 1), out.size()));
  return out;
}

void FederatedServer::begin_round() {
  due_ = after(options_.patience);
  for (auto& [member, one] : members_) {
    one.selected = one.answered = false;
    one.contribution = {};
  }
  const std::vector<std::uint32_t> selected = sample();
  if (selected.empty()) return;  // until somebody comes
  going_on_ = began_ = true;
  statistics_.selected += selected.size();
  for (const std::uint32_t member : selected) members_.at(member).selected = true;
  answer_all();
}

void FederatedServer::answer_all() {
  for (auto& [member, one] : members_) {
    if (!one.asks) continue;
    one.asks->set_value(round_for(one));
    one.asks.reset();
  }
}

bool FederatedServer::contribute(std::uint32_t member, std::uint64_t round, const Array<float>& state) {
  const auto found = members_.find(member);
  if (!going_on_ || round != number_ || found == members_.end() || !found->second.selected) {
    ++statistics_.late;
    return false;
  }
  Member& one = found->second;
  if (one.answered) return true;  // a repetition of its answer
  one.answered = true;
  const auto is_bad = [this](float value) { return options_.bad_values != BadValues::pass && !std::isfinite(value); };
  const auto* const bad = std::find_if(state.begin(), state.end(), is_bad);
  const std::string whose =
      "the model that member " + std::to_string(member) + " gave to round " + std::to_string(round) + " ";
  if (state.size() == state_.size() && bad == state.end()) {
    one.contribution = state;
    end_round_when_answered();
    return true;
  }
  end_round_when_answered();
  if (state.size() != state_.size()) {
    throw Error(ErrorKind::failed,
                whose + "has " + std::to_string(state.size()) + " values instead of " + std::to_string(state_.size()));
  }
  throw Error(ErrorKind::failed, whose + "is not finite at element " + std::to_string(bad - state.begin()) +
                                     ": a lower learning rate may help");
}

void FederatedServer::end_round_when_answered() {
  const bool waits = std::any_of(members_.begin(), members_.end(), [this](const auto& one) {
    return one.second.selected && !one.second.answered && !group_.is_gone(one.first);
  });
  if (!waits) end_round();
}

// w ← Σ (n_k / m_t) w_k over the members that contributed, with m_t = Σ n_k of these alone, in the order of the
// members.
void FederatedServer::end_round() {
  std::uint64_t examples = 0;
  for (const auto& [member, one] : members_) examples += one.contribution.empty() ? 0 : one.examples;
  if (examples > 0) {
    Array<float> mean(state_.size());
    const std::span<float> to = mean.edit();
    for (const auto& [member, one] : members_) {
      if (one.contribution.empty()) continue;
      const float weight = static_cast<float>(one.examples) / static_cast<float>(examples);
      for (std::size_t i = 0; i < to.size(); ++i) to[i] += weight * one.contribution[i];
      ++statistics_.contributions;
    }
    state_ = std::move(mean);
    statistics_.examples += examples;
  }
  statistics_.missed += static_cast<std::uint64_t>(
      std::erase_if(members_, [](const auto& one) { return one.second.selected && !one.second.answered; }));
  going_on_ = false;
  statistics_.rounds = ++number_;
  context_.report({.step = number_, .total = options_.rounds});
  if (!options_.reached || number_ >= options_.rounds) return go_on(false);
  judging_ = true;
  notify();
}

// Goes on after a round; `reached` is whether its state is good enough.
void FederatedServer::go_on(bool reached) {
  judging_ = false;
  over_ = reached || number_ >= options_.rounds;
  const std::uint64_t every = options_.checkpoint_every;
  const bool due = over_ || (every > 0 && number_ % every == 0);
  if (due && number_ != cut_at_) context_.checkpoint(cut_at_ = number_);
  if (over_) {
    notify();
    for (auto& [member, one] : members_) one.selected = false;
    answer_all();
  } else if (began_) {
    begin_round();
  } else {
    begin_when_all_ask();
  }
}

// Does not save `over_`: a resumed run may have more rounds, or another target.
void FederatedServer::save(Checkpoint& out) const {
  out.put("round", number_);
  out.put("state", state_);
}

void FederatedServer::load(const Checkpoint& in) {
  auto state = in.get<Array<float>>("state");
  if (state.size() != state_.size()) {
    throw Error(ErrorKind::failed, "the checkpoint has " + std::to_string(state.size()) +
                                       " values, but the model has " + std::to_string(state_.size()));
  }
  state_ = std::move(state);
  statistics_.rounds = number_ = in.get<std::uint64_t>("round");
  cut_at_ = number_;
  over_ = number_ >= options_.rounds;
  judging_ = !over_ && options_.reached != nullptr;
}

template const NodeType& internal::node_type<FederatedServer>();

}  // namespace lp

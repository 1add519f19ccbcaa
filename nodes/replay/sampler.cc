#include "nodes/replay/sampler.h"

#include <algorithm>
#include <map>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/text.h"
#include "lp/rpc/core/call_context.h"
#include "nodes/replay/table_location.h"

namespace lp::replay {

Sampler::Sampler(const Client<Server>& server, std::string table, SamplerOptions options)
    : Sampler(Clients<Server>(std::vector<Client<Server>>{server}), std::move(table), options) {}

Sampler::Sampler(const Clients<Server>& servers, std::string table, SamplerOptions options)
    : table_(std::move(table)), options_(options) {
  if (servers.empty()) throw Error(ErrorKind::failed, "a sampler needs a replay server");
  if (options.timeout <= Duration::zero()) throw Error(ErrorKind::failed, "a sampler needs a timeout above 0");
  for (const Client<Server>& client : servers) {
    const TableLocation place = find_table(client, table_);
    sources_.push_back({.client = client.within(options.timeout), .shard = place.shard, .table = place.number});
    if (layout_ == nullptr) layout_ = std::make_shared<Layout>(place.columns);
  }
  waiting_ = Batch(layout_);
}

Batch Sampler::sample(std::size_t count) {
  const Time until = std::min(after(options_.timeout), rpc::call_deadline());
  while (waiting_.size() < count) {
    ask(count - waiting_.size());
    take_reply(until);
    if (waiting_.size() < count && passed(until)) fail_late(count - waiting_.size());
  }
  Batch batch = waiting_.take(count);
  if (options_.ahead > 0) ask(count);
  return batch;
}

// Makes sure that each server has a request. Together they ask for as many items as are missing.
void Sampler::ask(std::size_t missing) {
  const std::size_t share =
      std::min<std::size_t>(SampleRequest::kMostItems, (missing + sources_.size() - 1) / sources_.size());
  for (Source& one : sources_) {
    while (one.asked.size() < std::max<std::size_t>(1, options_.ahead)) {
      one.asked.push_back(one.client.async<&Server::sample>(
          SampleRequest{.table = one.table, .count = static_cast<std::uint32_t>(share)}));
    }
  }
}

// Waits for the first reply, until a time. Without one, the requests stay on their way: a later batch has their items.
// A request that its server could not serve in the sampler's timeout gives nothing: meanwhile the other servers may
// have served theirs.
void Sampler::take_reply(Time until) {
  Source& source = sources_[next_ready(until)];
  try {
    if (!source.asked.front().wait_for(lp::until(until))) return;
    Future<Samples> reply = std::move(source.asked.front());
    source.asked.pop_front();
    source.watched = false;
    waiting_.append(reply.get());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::deadline) throw;
  }
}

// The source whose first reply is there first; any when none comes in time. They have their turns, so that one that is
// always ready does not keep the learner from the others. Each reply is watched once, however many others come before.
std::size_t Sampler::next_ready(Time until) {
  if (sources_.size() == 1) return 0;
  first_ = (first_ + 1) % sources_.size();
  for (;;) {
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      const std::size_t at = (first_ + i) % sources_.size();
      if (sources_[at].asked.front().ready()) return at;
    }
    for (Source& one : sources_) {
      if (std::exchange(one.watched, true)) continue;
      rpc::on_ready_anywhere(*one.asked.front().state(), [ready = ready_] { ready->put({}); });
    }
    if (!next_) next_ = ready_->next();
    if (!next_->get_for(lp::until(until))) return first_;
    next_.reset();
  }
}

std::uint64_t Sampler::update_priorities(std::span<const std::uint64_t> keys, std::span<const double> priorities) {
  if (keys.size() != priorities.size()) {
    throw Error(ErrorKind::failed, std::to_string(keys.size()) + " items get " + std::to_string(priorities.size()) +
                                       " priorities: give one for each");
  }
  std::map<Source*, std::vector<PriorityUpdate>> updates;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    updates[&source_of(keys[i])].push_back({.key = keys[i], .priority = priorities[i]});
  }
  std::uint64_t found = 0;
  for (auto& [source, some] : updates) {
    found += source->client.call<&Server::update_priorities>(source->table, std::move(some));
  }
  return found;
}

std::uint64_t Sampler::remove(std::span<const std::uint64_t> keys) {
  std::map<Source*, std::vector<std::uint64_t>> by_source;
  for (const std::uint64_t key : keys) by_source[&source_of(key)].push_back(key);
  std::uint64_t found = 0;
  for (auto& [source, some] : by_source) {
    found += source->client.call<&Server::remove>(source->table, std::move(some));
  }
  return found;
}

std::vector<TableInfo> Sampler::info() const {
  std::vector<TableInfo> all;
  for (const Source& one : sources_) all.push_back(one.client.call<&Server::info>().tables[one.table]);
  return all;
}

Sampler::Source& Sampler::source_of(std::uint64_t key) {
  const std::uint32_t shard = shard_of(key);
  const auto found =
      std::find_if(sources_.begin(), sources_.end(), [shard](const Source& one) { return one.shard == shard; });
  if (found != sources_.end()) return *found;
  throw Error(ErrorKind::failed, "the key " + std::to_string(key) + " belongs to replay server " +
                                     std::to_string(shard) + ", which this sampler does not know");
}

void Sampler::fail_late(std::size_t missing) const {
  std::string text = std::to_string(missing) + " samples did not arrive from the replay table " + quote(table_) +
                     " after " + duration_text(options_.timeout);
  const std::vector<TableInfo> tables = info();
  for (std::size_t i = 0; i < tables.size(); ++i) {
    text += "; ";
    text += tables.size() == 1 ? "it" : "that of server " + std::to_string(sources_[i].shard);
    text += " has " + tables[i].state;
  }
  throw Error(ErrorKind::deadline, text);
}

}  // namespace lp::replay

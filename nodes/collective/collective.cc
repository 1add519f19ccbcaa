#include "nodes/collective/collective.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/enums.h"
#include "lp/base/error.h"
#include "lp/base/scheduler.h"
#include "lp/base/text.h"
#include "nodes/collective/gpu_group.h"
#include "nodes/collective/sum_in_rank_order.h"

namespace lp {
namespace {

// A rank that has waited for this long checks whether all others live. Each next wait is twice as long.
constexpr Duration kFirstPatience = std::chrono::milliseconds(100);
constexpr Duration kMostPatience = std::chrono::seconds(2);
constexpr Duration kStep = CollectiveMember::kStepTime;
constexpr Duration kToAnswer = std::chrono::seconds(1);  // for a member that lives and is not being restarted

}  // namespace

Collective::Collective(Clients<CollectiveMember> members, std::uint32_t index, CollectiveOptions options)
    : members_(std::move(members)), index_(index), options_(options) {
  if (index >= members_.size() || options.fusion_bytes < sizeof(float)) {
    throw Error(ErrorKind::failed, "member " + std::to_string(index) + " of " + std::to_string(members_.size()) +
                                       " with a fusion buffer of " + std::to_string(options.fusion_bytes) +
                                       " bytes: members count from 0, and the buffer needs at least 4 bytes");
  }
}

Collective::~Collective() {
  gpu_group_.reset();
  if (session_.number == 0) return;
  try {
    own().within(kToAnswer).call<&CollectiveMember::end>(session_.number);
  } catch (const Error&) {
    // The member is gone, and so are the parts that others could read.
  }
}

const Session& Collective::join(std::uint64_t progress) {
  gpu_group_.reset();
  gpus_were_asked_ = false;
  gpu_obstacle_.clear();
  const Presence here = own().call<&CollectiveMember::presence>();
  // It may also be a session of an earlier incarnation of the worker, which did not end it.
  if (here.entered > here.ended) own().call<&CollectiveMember::leave>(here.entered, failure_);
  const Joining joining{.member = index_, .incarnation = here.incarnation, .last = here.entered, .progress = progress};
  std::uint32_t first = 0;
  Future<Session> formed;
  std::optional<Session> session;
  for (Duration patience = kFirstPatience; !session; patience = std::min(2 * patience, kMostPatience)) {
    try {
      if (!formed.valid()) {
        formed = members_[first].async<&CollectiveMember::join>(joining, static_cast<std::uint32_t>(members_.size()));
      }
      session = formed.get_for(patience);
      if (session) break;
      const Found found = find_lost();
      if (found.finished) {
        last_state_ = members_[*found.finished].call<&CollectiveMember::last_state>();
        session_.over = true;
        return session_;
      }
      for (const std::uint32_t one : found.lost) {
        if (one != first) members_[first].call<&CollectiveMember::lost>(one);
      }
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::disconnected) throw;
      formed = {};
      const std::vector<std::uint32_t> lost = find_lost().lost;
      while (std::find(lost.begin(), lost.end(), first) != lost.end()) ++first;
    }
  }
  session_ = *std::move(session);
  from_.clear();
  const auto at = std::find(session_.members.begin(), session_.members.end(), index_);
  rank_ = static_cast<std::uint32_t>(at - session_.members.begin());
  ranks_ = static_cast<std::uint32_t>(session_.members.size());
  from_.resize(ranks_);
  operation_ = 0;
  broadcasts_ = 0;
  failure_ = "it started another session";
  own().call<&CollectiveMember::enter>(session_.number);
  return session_;
}

void Collective::leave(const std::string& reason) {
  own().within(kToAnswer).call<&CollectiveMember::leave>(session_.number, reason);
}

// Finds the members that will not come back, and one that has finished.
Collective::Found Collective::find_lost() const {
  Found found;
  std::vector<Future<Presence>> answers = members_.async<&CollectiveMember::presence>();
  const Time end = after(kToAnswer);
  for (std::uint32_t member = 0; member < answers.size(); ++member) {
    try {
      const std::optional<Presence> presence = answers[member].get_for(until(end));
      if (!presence) {
        answers[member].cancel();
      } else if (presence->finished) {
        found.finished = member;
      }
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::disconnected) throw;
      if (!error.may_have_run()) found.lost.push_back(member);
    }
  }
  return found;
}

// Throws the error of the first member that is no longer in the session.
void Collective::check_members() const {
  std::vector<Future<Presence>> answers;
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) answers.push_back(at(rank).async<&CollectiveMember::presence>());
  const Time end = after(kToAnswer);
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    const std::optional<Presence> presence = answers[rank].get_for(until(end));
    const std::string member = "member " + std::to_string(session_.members[rank]) + " of the collective";
    if (!presence) {
      answers[rank].cancel();
    } else if (presence->incarnation != session_.incarnations[rank]) {
      throw Error(ErrorKind::disconnected, member + " has failed: it was restarted");
    } else if (presence->left >= session_.number) {
      throw Error(ErrorKind::disconnected, member + " has left it: " + presence->reason);
    }
  }
}

void Collective::send(std::uint32_t rank, const Operation& operation, Array<float> values) {
  statistics_.bytes_sent += values.size() * sizeof(float);
  own().call<&CollectiveMember::send>(session_.number, rank,
                                      CollectivePart{.operation = operation, .values = std::move(values)});
}

void Collective::send_to_others(const Operation& operation, const Array<float>& values) {
  for (std::uint32_t i = 1; i < ranks_; ++i) send((rank_ + i) % ranks_, operation, values);
}

StreamReader<CollectivePart>& Collective::from(std::uint32_t rank) {
  std::optional<StreamReader<CollectivePart>>& reader = from_[rank];
  if (!reader) reader.emplace(at(rank).stream<&CollectiveMember::parts>(session_.number, rank_));
  return *reader;
}

// Waits until this rank has sent something, or a member is found to be gone.
void Collective::await(std::uint32_t rank) {
  StreamReader<CollectivePart>& reader = from(rank);
  const Time limit = after(kStep);
  for (Duration patience = kFirstPatience; !reader.wait_for(patience);
       patience = std::min(2 * patience, kMostPatience)) {
    if (passed(limit))
      throw Error(ErrorKind::deadline,
                  name(rank) + " has sent nothing for " + duration_text(CollectiveMember::kStepTime));
    check_members();
  }
}

Array<float> Collective::receive(std::uint32_t rank, const Operation& operation, std::optional<std::size_t> size) {
  try {
    await(rank);
    std::optional<CollectivePart> part = from_[rank]->next();
    if (!part) throw Error(ErrorKind::disconnected, name(rank) + " has ended the collective");
    if (part->operation != operation || (size && part->values.size() != *size)) {
      const auto text = [](const Operation& one) {
        return std::string(enum_name(one.kind)) + " of " + std::to_string(one.size) + " values, as operation " +
               std::to_string(one.number);
      };
      throw Error(ErrorKind::failed, name(rank) + " is in a collective " + text(part->operation) + ", and rank " +
                                         std::to_string(rank_) + " in a " + text(operation) +
                                         ": all must call the same operations in one order with the same options, and "
                                         "all must give as many tensors of the same sizes");
    }
    statistics_.bytes_received += part->values.size() * sizeof(float);
    return std::move(part->values);
  } catch (const Error& error) {
    failure_ = error.what();
    throw;
  }
}

std::string Collective::name(std::uint32_t rank) const {
  return "rank " + std::to_string(rank) + ", member " + std::to_string(session_.members[rank]) + " of the collective,";
}

// Sums over all ranks, in their order; `own` are this rank's values.
Array<float> Collective::sum_of_all(const Operation& operation, const Array<float>& own) {
  std::vector<Array<float>> given;
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    given.push_back(rank == rank_ ? own : receive(rank, operation, own.size()));
  }
  return sum_in_rank_order(given);
}

void Collective::check_joined() const {
  if (session_.number == 0) {
    throw Error(ErrorKind::failed, "a collective operation was called before join(): call join() first");
  }
}

Collective::Slice Collective::slice(std::uint32_t rank, std::size_t size) const {
  const std::size_t begin = size * rank / ranks_;
  return {.begin = begin, .size = size * (rank + 1) / ranks_ - begin};
}

Array<float> Collective::reduce_scatter(std::span<const float> values) {
  check_joined();
  const auto copy = Array<float>::copy_of(values);
  const Operation operation = begin(Operation::Kind::reduce_scatter, values.size());
  for (std::uint32_t i = 1; i < ranks_; ++i) {
    const std::uint32_t rank = (rank_ + i) % ranks_;
    send(rank, operation, slice_of(copy, slice(rank, copy.size())));
  }
  return sum_of_all(operation, slice_of(copy, slice(rank_, copy.size())));
}

std::vector<Array<float>> Collective::all_gather(Array<float> values) {
  check_joined();
  const Operation operation = begin(Operation::Kind::all_gather, 0);
  send_to_others(operation, values);
  std::vector<Array<float>> all;
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    all.push_back(rank == rank_ ? values : receive(rank, operation));
  }
  return all;
}

Array<float> Collective::broadcast(Array<float> values, std::uint32_t root) {
  check_joined();
  if (root >= ranks_) {
    throw Error(ErrorKind::failed,
                "a broadcast begins at rank " + std::to_string(root) + " of " + std::to_string(ranks_) +
                    ": ranks count from 0, and a session may have fewer ranks than the collective has members");
  }
  const Operation operation = begin(Operation::Kind::broadcast, 0);
  if (rank_ == root) {
    send_to_others(operation, values);
  } else {
    values = receive(root, operation);
  }
  if (++broadcasts_ % kStreamWindow == 0) barrier();  // else a root could be any number of broadcasts ahead
  return values;
}

void Collective::barrier() {
  check_joined();
  const Operation operation = begin(Operation::Kind::barrier, 0);
  const auto root = static_cast<std::uint32_t>(operation.number % ranks_);
  if (rank_ != root) {
    send(root, operation, {});
    receive(root, operation);
    return;
  }
  for (std::uint32_t i = 1; i < ranks_; ++i) receive((rank_ + i) % ranks_, operation);
  send_to_others(operation, {});
}

}  // namespace lp

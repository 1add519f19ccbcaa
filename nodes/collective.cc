#include "nodes/collective.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/scheduler.h"

namespace lp {
namespace {

constexpr std::uint32_t kDirectRanks = 16;
constexpr std::size_t kDoublingBytes = 64 << 10;  // more than 16 ranks: from here on, ring
constexpr std::size_t kOneSliceBytes = 16 << 10;  // direct: below, one rank sums all
// Direct: so much is summed at a time, that what one rank has written another finds in the processor's cache.
constexpr std::size_t kPieceBytes = std::size_t{2} << 20;
constexpr std::size_t kPiecesAhead = 2;

// Who has waited for so long looks whether all others live; the next time after twice as long.
constexpr Duration kFirstPatience = std::chrono::milliseconds(100);
constexpr Duration kMostPatience = std::chrono::seconds(2);
constexpr Duration kToAnswer = std::chrono::seconds(1);  // for a member that lives and is not being restarted

Array<float> sum_of(const Array<float>& a, const Array<float>& b) {
  if (a.size() != b.size()) {
    throw Error(ErrorKind::failed, "an allreduce of " + std::to_string(a.size()) + " values in one rank and of " +
                                       std::to_string(b.size()) + " in another: all must give as many");
  }
  auto sum = Array<float>::uninitialized(a.size());
  float* const to = sum.edit().data();
  for (std::size_t i = 0; i < a.size(); ++i) to[i] = a[i] + b[i];
  return sum;
}

Array<float> slice_of(const Array<float>& values, const Collective::Slice& slice) {
  return Array<float>(values.buffer().slice(slice.begin * sizeof(float), slice.size * sizeof(float)));
}

}  // namespace

// Tensors as one sequence of values, which is read from its beginning to its end, and written behind that.
class Collective::Tensors {
 public:
  explicit Tensors(std::span<const std::span<float>> tensors) : tensors_(tensors) {
    for (const std::span<float>& one : tensors) left_ += one.size();
  }

  std::size_t left() const { return left_; }  // to be read
  // The next so many values, in memory that can be shared.
  Array<float> read(std::size_t count) {
    auto out = Array<float>::uninitialized(count);
    float* to = out.edit().data();
    read_.move(tensors_, count, [&to](std::span<float> values) { to = std::copy(values.begin(), values.end(), to); });
    left_ -= count;
    return out;
  }
  void write(const Array<float>& values) {
    const float* from = values.data();
    written_.move(tensors_, values.size(), [&from](std::span<float> to) {
      std::copy_n(from, to.size(), to.begin());
      from += to.size();
    });
  }

 private:
  struct Place {
    std::size_t tensor = 0;
    std::size_t offset = 0;

    // Calls f for the pieces of tensors that the next `count` values are.
    template <class F>
    void move(std::span<const std::span<float>> tensors, std::size_t count, F f) {
      while (count > 0) {
        const std::size_t size = std::min(count, tensors[tensor].size() - offset);
        f(tensors[tensor].subspan(offset, size));
        count -= size;
        offset += size;
        if (offset == tensors[tensor].size()) {
          ++tensor;
          offset = 0;
        }
      }
    }
  };

  std::span<const std::span<float>> tensors_;
  std::size_t left_ = 0;
  Place read_{};
  Place written_{};
};

Collective::Collective(Clients<CollectiveMember> members, std::uint32_t index, CollectiveOptions options)
    : members_(std::move(members)), index_(index), options_(options) {
  if (index >= members_.size() || options.fusion_bytes < sizeof(float)) {
    throw Error(ErrorKind::failed, "member " + std::to_string(index) + " of " + std::to_string(members_.size()) +
                                       " with a fusion buffer of " + std::to_string(options.fusion_bytes) +
                                       " bytes: members count from 0, and the buffer takes 4 bytes at least");
  }
}

const Session& Collective::join(std::uint64_t progress) {
  if (session_.number > 0) own().call<&CollectiveMember::leave>(session_.number, failure_);
  const Joining joining{.member = index_,
                        .incarnation = own().call<&CollectiveMember::presence>().incarnation,
                        .last = session_.number,
                        .progress = progress};
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
      const Found found = look_around();
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
      const std::vector<std::uint32_t> lost = look_around().lost;
      while (std::find(lost.begin(), lost.end(), first) != lost.end()) ++first;
    }
  }
  session_ = *std::move(session);
  const auto at = std::find(session_.members.begin(), session_.members.end(), index_);
  rank_ = static_cast<std::uint32_t>(at - session_.members.begin());
  ranks_ = static_cast<std::uint32_t>(session_.members.size());
  operation_ = 0;
  failure_ = "it began another session";
  own().call<&CollectiveMember::enter>(session_.number, rank_);
  return session_;
}

// Who will not come back, and who has finished.
Collective::Found Collective::look_around() const {
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

// Throws what is wrong with the first that is not in the session any more.
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

// Calls attempt(patience), which returns nothing when it has waited so long, until it gives something or a member is
// found to be gone.
template <class F>
Array<float> Collective::wait_until_done(F attempt) {
  try {
    for (Duration patience = kFirstPatience;; patience = std::min(2 * patience, kMostPatience)) {
      if (std::optional<Array<float>> values = attempt(patience)) return *std::move(values);
      check_members();
    }
  } catch (const Error& error) {
    failure_ = error.what();
    throw;
  }
}

Array<float> Collective::wait(Future<Array<float>> future) {
  Array<float> values = wait_until_done([&](Duration patience) { return future.get_for(patience); });
  statistics_.bytes_received += values.size() * sizeof(float);
  return values;
}

// Waits on this stack: nearly always the sum is made here, or by the thread that receives the last part.
Array<float> Collective::own_sum(const CollectivePart& part, const Array<float>& values) {
  return wait_until_done([&](Duration patience) -> std::optional<Array<float>> {
    try {
      return own().within(patience).call<&CollectiveMember::sum>(part, rank_, ranks_, values);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::deadline) throw;
      return {};
    }
  });
}

void Collective::offer(const CollectivePart& part, const Array<float>& values, std::uint32_t takers) {
  if (takers == 0) return;
  own().call<&CollectiveMember::offer>(part, takers, values);
  statistics_.bytes_sent += takers * values.size() * sizeof(float);
}

void Collective::check_joined() const {
  if (session_.number == 0) throw Error(ErrorKind::failed, "a collective operation before join(): call that first");
}

Collective::Slice Collective::slice(std::uint32_t rank, std::size_t size) const {
  const std::size_t begin = size * rank / ranks_;
  return {.begin = begin, .size = size * (rank + 1) / ranks_ - begin};
}

void Collective::allreduce(std::span<const std::span<float>> given) {
  check_joined();
  if (ranks_ == 1) return;
  Tensors tensors(given);
  const std::size_t bytes = tensors.left() * sizeof(float);
  Allreduce how = options_.allreduce;
  if (how == Allreduce::nearest) {
    how = ranks_ <= kDirectRanks ? Allreduce::direct : bytes < kDoublingBytes ? Allreduce::doubling : Allreduce::ring;
  }
  const std::size_t most =
      how == Allreduce::direct ? std::min(options_.fusion_bytes, kPieceBytes) : options_.fusion_bytes;
  std::vector<Started> started;
  std::size_t finished = 0;
  while (tensors.left() > 0 || finished < started.size()) {
    if (tensors.left() > 0) {
      Array<float> values = tensors.read(std::min(tensors.left(), most / sizeof(float)));
      ++statistics_.operations;
      switch (how) {
        case Allreduce::ring: ring(values, tensors); break;
        case Allreduce::doubling: doubling(std::move(values), tensors); break;
        default: started.push_back(start_direct(std::move(values)));
      }
    }
    if (finished < started.size() && (tensors.left() == 0 || started.size() - finished >= kPiecesAhead)) {
      finish_direct(started[finished], tensors);
      started[finished++] = {};
    }
  }
}

Collective::Started Collective::start_direct(Array<float> values) {
  Started out{.operation = operation_++, .values = std::move(values), .slices = {}};
  const std::size_t size = out.values.size();
  if (size * sizeof(float) < kOneSliceBytes) {
    const auto root = static_cast<std::uint32_t>(out.operation % ranks_);
    out.slices.resize(1);
    if (root == rank_) return out;
    out.slices[0] = at(root).async<&CollectiveMember::sum>(part(out.operation, root), rank_, ranks_, out.values);
    statistics_.bytes_sent += size * sizeof(float);
    return out;
  }
  out.slices.resize(ranks_);
  for (std::uint32_t i = 1; i < ranks_; ++i) {
    const std::uint32_t rank = (rank_ + i) % ranks_;
    const Slice its = slice(rank, size);
    out.slices[rank] =
        at(rank).async<&CollectiveMember::sum>(part(out.operation, rank), rank_, ranks_, slice_of(out.values, its));
    statistics_.bytes_sent += its.size * sizeof(float);
  }
  return out;
}

void Collective::finish_direct(Started& started, Tensors& to) {
  statistics_.steps += 2;
  const bool whole = started.slices.size() == 1;
  Array<float> mine;
  for (const Future<Array<float>>& one : started.slices) {
    if (one.valid()) continue;
    const Slice own = whole ? Slice{.begin = 0, .size = started.values.size()} : slice(rank_, started.values.size());
    mine = own_sum(part(started.operation, rank_), slice_of(started.values, own));
    statistics_.bytes_sent += (ranks_ - 1) * mine.size() * sizeof(float);
    statistics_.bytes_received += (ranks_ - 1) * mine.size() * sizeof(float);
  }
  for (Future<Array<float>>& one : started.slices) to.write(one.valid() ? wait(std::move(one)) : mine);
}

void Collective::ring(const Array<float>& values, Tensors& to) {
  const std::uint64_t operation = operation_++;
  const std::uint32_t steps = 2 * (ranks_ - 1);
  const Client<CollectiveMember>& left = at((rank_ + ranks_ - 1) % ranks_);
  std::vector<Future<Array<float>>> from_left;
  for (std::uint32_t step = 0; step < steps; ++step) {
    from_left.push_back(left.async<&CollectiveMember::take>(part(operation, step)));
  }
  std::vector<Array<float>> chunks;
  for (std::uint32_t chunk = 0; chunk < ranks_; ++chunk)
    chunks.push_back(slice_of(values, slice(chunk, values.size())));
  for (std::uint32_t step = 0; step < steps; ++step) {
    ++statistics_.steps;
    offer(part(operation, step), chunks[(rank_ + 2 * ranks_ - step) % ranks_]);
    Array<float>& next = chunks[(rank_ + 2 * ranks_ - step - 1) % ranks_];
    Array<float> received = wait(std::move(from_left[step]));
    next = step < ranks_ - 1 ? sum_of(received, next) : std::move(received);
  }
  for (const Array<float>& chunk : chunks) to.write(chunk);
}

void Collective::doubling(Array<float> values, Tensors& to) {
  const std::uint64_t operation = operation_++;
  const std::uint32_t power = std::bit_floor(ranks_);
  const auto take = [&](std::uint32_t rank, std::uint64_t number) {
    ++statistics_.steps;
    return wait(at(rank).async<&CollectiveMember::take>(part(operation, number)));
  };
  if (rank_ >= power) {
    offer(part(operation, 0), values);
    to.write(take(rank_ - power, 1));
    return;
  }
  const bool has_guest = rank_ + power < ranks_;
  if (has_guest) values = sum_of(values, take(rank_ + power, 0));
  for (std::uint32_t bit = 1; bit < power; bit *= 2) {
    offer(part(operation, 2 + bit), values);
    values = sum_of(values, take(rank_ ^ bit, 2 + bit));
  }
  if (has_guest) offer(part(operation, 1), values);
  to.write(values);
}

Array<float> Collective::reduce_scatter(std::span<const float> values) {
  check_joined();
  const auto copy = Array<float>::copy_of(values);
  const std::uint64_t operation = operation_++;
  std::vector<Future<void>> given;
  for (std::uint32_t i = 1; i < ranks_; ++i) {
    const std::uint32_t rank = (rank_ + i) % ranks_;
    const Array<float> its = slice_of(copy, slice(rank, copy.size()));
    given.push_back(at(rank).async<&CollectiveMember::add>(part(operation, rank), rank_, ranks_, its));
    statistics_.bytes_sent += its.size() * sizeof(float);
  }
  Array<float> mine = own_sum(part(operation, rank_), slice_of(copy, slice(rank_, copy.size())));
  statistics_.bytes_received += (ranks_ - 1) * mine.size() * sizeof(float);
  for (Future<void>& one : given) one.get();
  return mine;
}

std::vector<Array<float>> Collective::all_gather(Array<float> values) {
  check_joined();
  const CollectivePart here = part(operation_++, 0);
  offer(here, values, ranks_ - 1);
  std::vector<Future<Array<float>>> others(ranks_);
  for (std::uint32_t i = 1; i < ranks_; ++i) {
    const std::uint32_t rank = (rank_ + i) % ranks_;
    others[rank] = at(rank).async<&CollectiveMember::take>(here);
  }
  std::vector<Array<float>> all;
  for (Future<Array<float>>& one : others) all.push_back(one.valid() ? wait(std::move(one)) : values);
  return all;
}

Array<float> Collective::broadcast(Array<float> values, std::uint32_t root) {
  check_joined();
  const CollectivePart here = part(operation_++, 0);
  if (rank_ != root) return wait(at(root).async<&CollectiveMember::take>(here));
  offer(here, values, ranks_ - 1);
  return values;
}

void Collective::barrier() {
  check_joined();
  const std::uint64_t operation = operation_++;
  const auto root = static_cast<std::uint32_t>(operation % ranks_);
  if (root == rank_) {
    own_sum(part(operation, root), {});
  } else {
    wait(at(root).async<&CollectiveMember::sum>(part(operation, root), rank_, ranks_, Array<float>()));
  }
}

}  // namespace lp

#include "nodes/shared_vector.h"

#include <cstring>
#include <string>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/secret.h"

namespace lp {
namespace {

constexpr std::size_t kSecret = 64;  // bytes, a cache line

// The layout is: the secret, the progress of the users, the values. Each begins at a cache line.
std::size_t progress_bytes(std::uint32_t users) {
  return (users * sizeof(std::uint64_t) + Buffer::kAlignment - 1) / Buffer::kAlignment * Buffer::kAlignment;
}
std::size_t bytes_of(const SharedVectorLocation& location) {
  return kSecret + progress_bytes(location.users) + location.size * sizeof(float);
}

SharedMemory opened(const SharedVectorLocation& location) {
  try {
    SharedMemory memory = SharedMemory::open(location.path, SharedMemory::Access::write, bytes_of(location));
    if (location.secret.size() == kSecret && memory.size() == bytes_of(location) &&
        std::memcmp(memory.data(), location.secret.data(), kSecret) == 0) {
      return memory;
    }
  } catch (const Error&) {  // reported below
  }
  throw Error(ErrorKind::failed,
              "a shared vector is not in the memory of this host: place its node and all that use it "
              "on one host, in one container");
}

SharedMemory made(const SharedVectorLocation& location) {
  SharedMemory memory = SharedMemory::create("lp-vector", bytes_of(location));
  std::memcpy(memory.data(), location.secret.data(), kSecret);
  return memory;
}

}  // namespace

SharedVectorView::SharedVectorView(const SharedVectorLocation& location)
    : SharedVectorView(opened(location), location) {}

SharedVectorView::SharedVectorView(SharedMemory memory, const SharedVectorLocation& location)
    : memory_(std::move(memory)),
      users_(location.users),
      size_(location.size),
      progress_(reinterpret_cast<std::uint64_t*>(memory_.data() + kSecret)),
      values_(reinterpret_cast<float*>(memory_.data() + kSecret + progress_bytes(location.users))) {}

void SharedVectorView::read(std::size_t begin, std::span<float> to) const {
  if (begin > size_ || to.size() > size_ - begin) {
    throw Error(ErrorKind::failed, "elements " + std::to_string(begin) + " to " + std::to_string(begin + to.size()) +
                                       " of a shared vector of " + std::to_string(size_));
  }
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = get(begin + i);
}

void SharedVectorView::check(std::uint32_t user) const {
  if (user < users_) return;
  throw Error(ErrorKind::failed, "user " + std::to_string(user) + " of a shared vector that has " +
                                     std::to_string(users_) + " users: users count from 0");
}

std::uint64_t SharedVectorView::progress(std::uint32_t user) const {
  check(user);
  return std::atomic_ref(progress_[user]).load(std::memory_order_acquire);
}

void SharedVectorView::set_progress(std::uint32_t user, std::uint64_t progress) const {
  check(user);
  std::atomic_ref(progress_[user]).store(progress, std::memory_order_release);
}

SharedVector::SharedVector(Context& context, const std::function<std::vector<float>(std::uint64_t seed)>& initial,
                           std::uint32_t users, CutSchedule schedule)
    : SharedVector(context, initial(context.program_seed()), users, schedule) {}

SharedVector::SharedVector(Context& context, const std::vector<float>& initial, std::uint32_t users,
                           CutSchedule schedule)
    : context_(context),
      schedule_(schedule),
      location_{.secret = secret_text(kSecret / 2), .users = users, .size = initial.size()},
      view_(made(location_), location_) {
  location_.path = view_.memory_.path();
  for (std::size_t i = 0; i < initial.size(); ++i) view_.set(i, initial[i]);
}

Array<float> SharedVector::values() const {
  auto out = Array<float>::uninitialized(view_.size());
  view_.read(0, out.edit());
  return out;
}

std::uint64_t SharedVector::updates() const {
  std::uint64_t sum = 0;
  for (std::uint32_t user = 0; user < location_.users; ++user) sum += view_.progress(user);
  return sum;
}

void SharedVector::cut_when_due(const SharedVectorLocation& location) {
  if (location.secret != location_.secret) {
    throw Error(ErrorKind::disconnected,
                "a shared vector was restarted, and later changes are in no checkpoint: ask for its location, and "
                "continue from its progress");
  }
  if (schedule_.due(updates())) context_.checkpoint(schedule_.cut);
}

void SharedVector::save(Checkpoint& out) const {
  std::vector<std::uint64_t> progress;
  for (std::uint32_t user = 0; user < location_.users; ++user) progress.push_back(view_.progress(user));
  out.put("progress", progress);
  out.put("values", values());  // after the progress, because none of the changes that it counts may be missing
}

void SharedVector::load(const Checkpoint& in) {
  const auto progress = in.get<std::vector<std::uint64_t>>("progress");
  const auto saved = in.get<Array<float>>("values");
  if (progress.size() != location_.users || saved.size() != view_.size()) {
    throw Error(ErrorKind::failed, "the checkpoint has a vector of " + std::to_string(saved.size()) + " values with " +
                                       std::to_string(progress.size()) + " users, not of " +
                                       std::to_string(view_.size()) + " with " + std::to_string(location_.users) +
                                       ": resume with the same model and the same number of workers");
  }
  for (std::uint32_t user = 0; user < location_.users; ++user) view_.set_progress(user, progress[user]);
  for (std::size_t i = 0; i < saved.size(); ++i) view_.set(i, saved[i]);
  schedule_.cut = updates();
}

}  // namespace lp

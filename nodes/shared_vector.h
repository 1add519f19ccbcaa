#pragma once
// A vector in the memory of a host, which any number of threads and processes change concurrently without locks:
// Hogwild (Recht, Ré, Wright and Niu, NIPS 2011). The node owns the memory and gives its users the path; they map the
// memory and then need no calls. A change of an element is never lost, but a reader of several elements sees them at
// different moments. A checkpoint has, for each user, all changes up to the progress that is saved with it, and perhaps
// some later ones: a user that goes on from there makes the later changes again.
//
// SharedVector is a node that only serves. A SharedVectorView is a resource of its user; any thread may use it.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lp/base/array.h"
#include "lp/base/shared_memory.h"
#include "lp/checkpoint/checkpoint.h"
#include "lp/program/context.h"
#include "lp/rpc/core/method.h"
#include "nodes/cut_schedule.h"

namespace lp {

// Where the memory of a vector is.
struct SharedVectorLocation {
  std::string path{};
  std::string secret{};  // the memory begins with it
  std::uint32_t users = 0;
  std::uint64_t size = 0;
};

class SharedVectorView {
 public:
  // Error::failed when the memory is not on this host.
  explicit SharedVectorView(const SharedVectorLocation& location);

  std::size_t size() const { return size_; }
  float get(std::size_t i) const { return std::atomic_ref(values_[i]).load(std::memory_order_relaxed); }
  void add(std::size_t i, float change) const {
    std::atomic_ref(values_[i]).fetch_add(change, std::memory_order_relaxed);
  }
  // Fills `to` with the elements from `begin` on.
  void read(std::size_t begin, std::span<float> to) const;

  // A number that each user keeps here, so that it survives a restart of the user: 0 at first. A reader of a progress
  // sees all changes that the user made before set_progress(). Error::failed when there is no such user.
  std::uint64_t progress(std::uint32_t user) const;
  void set_progress(std::uint32_t user, std::uint64_t progress) const;

 private:
  friend class SharedVector;
  SharedVectorView(SharedMemory memory, const SharedVectorLocation& location);
  void check(std::uint32_t user) const;
  void set(std::size_t i, float value) const { std::atomic_ref(values_[i]).store(value, std::memory_order_relaxed); }

  SharedMemory memory_;
  std::uint32_t users_;
  std::size_t size_;
  std::uint64_t* progress_;
  float* values_;
};

class SharedVector {
 public:
  // `initial` gives the values from the program's seed. The schedule counts the progress of all users together.
  SharedVector(Context& context, const std::function<std::vector<float>(std::uint64_t seed)>& initial,
               std::uint32_t users, CutSchedule schedule);

  SharedVectorLocation location() const { return location_; }
  // The present values.
  Array<float> values() const;
  // The progress of all users together.
  std::uint64_t updates() const;
  // Takes a cut, if one is due. Users call it when they have made progress in this memory.
  // Error::disconnected when the vector was restarted, and is elsewhere: users ask for it, and go on from there.
  void cut_when_due(const SharedVectorLocation& location);

  void save(Checkpoint& out) const;
  // Error::failed when the saved vector has another size or other users.
  void load(const Checkpoint& in);

  using Remote = Methods<idempotent<&SharedVector::location>, idempotent<&SharedVector::values>,
                         idempotent<&SharedVector::updates>, idempotent<&SharedVector::cut_when_due>>;

 private:
  SharedVector(Context& context, const std::vector<float>& initial, std::uint32_t users, CutSchedule schedule);

  Context& context_;
  CutSchedule schedule_;
  SharedVectorLocation location_;
  SharedVectorView view_;
};

}  // namespace lp

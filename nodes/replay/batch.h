#pragma once
// Items that a learner has sampled, and their steps. The steps of large items are read where they are, in the table's
// memory in the same process or in shared memory of the same host, which stay there as long as the batch.
//
//   const lp::replay::Batch batch = sampler.sample(256);
//   const lp::Array<float> states = batch.gather<float>("observation", 0);       // 256 rows: the first step of each
//   const lp::Array<std::int32_t> actions = batch.gather<std::int32_t>("action", 0);
//   const std::span<const float> last = batch.get<float>(7, batch.steps(7) - 1, "observation");  // of item 7
//
// A value; one thread at a time, and any number while nobody changes it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "lp/base/array.h"
#include "nodes/replay/columns.h"
#include "nodes/replay/replay_messages.h"

namespace lp::replay {

class Batch {
 public:
  Batch() = default;
  explicit Batch(std::shared_ptr<const Layout> layout) : layout_(std::move(layout)) {}

  std::size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  const SampledItem& item(std::size_t i) const { return items_[i]; }
  std::vector<std::uint64_t> keys() const;
  // The weights by which a learner corrects for the probabilities of its samples: (N · P(i))^−beta, divided by the
  // largest of the batch (Schaul, Quan, Antonoglou and Silver, ICLR 2016, section 3.4). N is the size of the table.
  // Error::failed when beta is not from 0 to 1.
  std::vector<float> importance_weights(double beta) const;

  std::size_t steps(std::size_t i) const;
  // The values of a column in one step of item i. Error::failed when there is no such step, or no such column of T.
  template <class T>
  std::span<const T> get(std::size_t i, std::size_t step, std::string_view column) const {
    const std::size_t number = layout().find(column, scalar_of<T>());
    return {reinterpret_cast<const T*>(row(i, step) + layout().offset(number)), layout().columns()[number].size};
  }
  // The values of a column in the same step of all items, one item behind the other.
  template <class T>
  Array<T> gather(std::string_view column, std::size_t step) const {
    const std::size_t number = layout().find(column, scalar_of<T>());
    Array<T> values = Array<T>::uninitialized(size() * layout().columns()[number].size);
    copy_column(number, step, std::as_writable_bytes(values.edit()));
    return values;
  }
  // The steps as they are in memory: rows() has steps(i) of them, or fewer when they are not all in one place.
  std::span<const std::byte> rows(std::size_t i) const;
  const Layout& layout() const { return *layout_; }

  // Adds the items of a reply. Error::failed when it does not fit the layout, or a compressed chunk is damaged.
  void append(Samples samples);
  // Takes the first `count` items, or all if there are fewer, out of this batch.
  Batch take(std::size_t count);

 private:
  struct Rows {  // steps in one place
    const std::byte* data = nullptr;
    std::uint32_t steps = 0;
  };

  const std::byte* row(std::size_t i, std::size_t step) const;
  void copy_column(std::size_t column, std::size_t step, std::span<std::byte> to) const;
  std::span<const Rows> places(std::size_t i) const { return {rows_.data() + first_[i], items_[i].pieces}; }

  std::shared_ptr<const Layout> layout_{};  // shared by the batches of a sampler
  std::vector<SampledItem> items_{};
  std::vector<std::size_t> first_{};  // by item: its first element of rows_
  std::vector<Rows> rows_{};
  std::vector<Buffer> memory_{};  // keeps the rows alive
};

}  // namespace lp::replay

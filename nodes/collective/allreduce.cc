// Sums over all ranks: the algorithms of Collective::allreduce. sum_in_rank_order.h has the order of the direct ones.

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "lp/base/hash.h"
#include "lp/base/names.h"
#include "nodes/collective/collective.h"

namespace lp {
namespace {

constexpr std::uint32_t kDirectRanks = 16;
constexpr std::size_t kRingBytes = 64 << 10;      // with more than 16 ranks: ring from this size on
constexpr std::size_t kOneSliceBytes = 16 << 10;  // direct: below this size one rank sums all
constexpr std::size_t kExchangeBytes = 2 << 20;   // direct: below this size two ranks send each other everything
// Direct sums pieces of this size: a rank then finds values that another has written in the processor's cache.
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

Array<float> sum_of(const Array<float>& a, const Array<float>& b) {
  auto sum = Array<float>::uninitialized(a.size());
  float* const to = sum.edit().data();
  for (std::size_t i = 0; i < a.size(); ++i) to[i] = a[i] + b[i];
  return sum;
}

Array<float> joined(const Array<float>& a, const Array<float>& b) {
  auto both = Array<float>::uninitialized(a.size() + b.size());
  std::copy(b.begin(), b.end(), std::copy(a.begin(), a.end(), both.edit().begin()));
  return both;
}

template <class T>
void reduce_into(std::span<T> to, std::span<const T> from, Reduction reduction) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    const T a = to[i];
    const T b = from[i];
    if (reduction != Reduction::sum) {
      if (b != b || (reduction == Reduction::max ? a < b : b < a)) to[i] = b;  // once a NaN, always a NaN
    } else if constexpr (std::is_integral_v<T>) {
      using Unsigned = std::make_unsigned_t<T>;
      to[i] = static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
    } else {
      to[i] = a + b;
    }
  }
}

// Values of another type travel as floats with the same bytes.
template <class T>
Array<float> as_floats(const Array<T>& values) {
  return Array<float>(values.buffer());
}
// Copies the values, because the bytes may not be aligned for a T.
template <class T>
std::vector<T> from_floats(const Array<float>& floats) {
  std::vector<T> values(floats.size() * sizeof(float) / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), floats.data(), values.size() * sizeof(T));
  return values;
}

}  // namespace

// Tensors as one sequence of values. A read position goes from its beginning to its end, and a write position follows
// it.
class Collective::Tensors {
 public:
  explicit Tensors(std::span<const std::span<float>> tensors, std::span<const Array<float>> arrays = {})
      : tensors_(tensors), arrays_(arrays) {
    for (const std::span<float>& one : tensors) {
      left_ += one.size();
      sizes_ = hash_combine(sizes_, one.size());
    }
  }

  std::size_t left() const { return left_; }      // values not read yet
  std::uint64_t sizes() const { return sizes_; }  // a hash of the sizes
  // The next `count` values, without a copy if they lie in one array. Nobody may still read them when they are
  // overwritten.
  Array<float> share(std::size_t count) {
    if (arrays_.empty() || arrays_[read_.tensor].size() - read_.offset < count) return read(count);
    Array<float> out = slice_of(arrays_[read_.tensor], {.begin = read_.offset, .size = count});
    read_.move(tensors_, count, [](std::span<float>) {});
    left_ -= count;
    return out;
  }
  // A copy of the next `count` values, in memory that can be shared.
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
  // Like write(), but adds the values to those that are there.
  void add(const Array<float>& values) {
    const float* from = values.data();
    written_.move(tensors_, values.size(), [&from](std::span<float> to) {
      for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
      from += to.size();
    });
  }

 private:
  struct Cursor {
    std::size_t tensor = 0;
    std::size_t offset = 0;

    // Calls f for each piece of a tensor among the next `count` values.
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
  std::span<const Array<float>> arrays_;  // the same; empty: the tensors are in memory that cannot be shared
  std::size_t left_ = 0;
  std::uint64_t sizes_ = 0;
  Cursor read_{};
  Cursor written_{};
};

void Collective::allreduce(std::span<const std::span<float>> given) {
  Tensors tensors(given);
  allreduce(tensors);
}

void Collective::allreduce(std::span<Array<float>> given) {
  std::vector<std::span<float>> spans;
  for (Array<float>& one : given) spans.push_back(one.edit());
  Tensors tensors(spans, given);
  allreduce(tensors);
}

void Collective::allreduce(Tensors& tensors) {
  check_joined();
  if (ranks_ == 1) return;
  const std::size_t bytes = tensors.left() * sizeof(float);
  Allreduce how = options_.allreduce;
  if (how == Allreduce::nearest) {
    how = ranks_ <= kDirectRanks ? Allreduce::direct : bytes < kRingBytes ? Allreduce::halving : Allreduce::ring;
  }
  const std::size_t most = options_.fusion_bytes / sizeof(float);
  const std::size_t piece = std::min(options_.fusion_bytes, kPieceBytes) / sizeof(float);
  if (how == Allreduce::direct) {
    return ranks_ == 2 && bytes < kExchangeBytes ? exchange(tensors, piece) : direct(tensors, piece);
  }
  while (tensors.left() > 0) {
    Array<float> values = tensors.read(std::min(tensors.left(), most));
    if (how == Allreduce::ring) {
      ring(values, tensors);
    } else {
      halving(std::move(values), tensors);
    }
  }
}

template <class T>
void Collective::allreduce(std::span<T> values, Reduction reduction) {
  check_joined();
  if (ranks_ == 1) return;
  constexpr std::size_t kBytes = sizeof(T);
  constexpr std::size_t kFloats = kBytes / sizeof(float);
  const auto kind = hash_combine(static_cast<std::uint64_t>(reduction), fnv1a(type_name<T>));
  const Operation operation = begin(Operation::Kind::allreduce, values.size(), kind);
  statistics_.steps += 2;
  const auto given = Array<T>::copy_of(values);
  for (std::uint32_t i = 1; i < ranks_; ++i) {
    const std::uint32_t rank = (rank_ + i) % ranks_;
    send(rank, operation, as_floats(slice_of(given, slice(rank, values.size()))));
  }
  const Slice mine = slice(rank_, values.size());
  const auto part = [&](std::uint32_t rank) {
    if (rank == rank_) return from_floats<T>(as_floats(slice_of(given, mine)));
    return from_floats<T>(receive(rank, operation, mine.size * kFloats));
  };
  std::vector<T> reduced = part(0);
  for (std::uint32_t rank = 1; rank < ranks_; ++rank) reduce_into<T>(reduced, part(rank), reduction);
  const auto result = Array<T>::copy_of(reduced);
  send_to_others(operation, as_floats(result));
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    const Slice its = slice(rank, values.size());
    const std::vector<T> sent = rank == rank_ ? reduced : from_floats<T>(receive(rank, operation, its.size * kFloats));
    std::copy(sent.begin(), sent.end(), values.begin() + static_cast<std::ptrdiff_t>(its.begin));
  }
}
template void Collective::allreduce(std::span<float>, Reduction);
template void Collective::allreduce(std::span<double>, Reduction);
template void Collective::allreduce(std::span<std::int32_t>, Reduction);
template void Collective::allreduce(std::span<std::int64_t>, Reduction);

// Two pieces are under way: one is added while the other rank writes the next.
void Collective::exchange(Tensors& tensors, std::size_t piece) {
  const std::uint32_t other = 1 - rank_;
  std::optional<Operation> before;
  while (tensors.left() > 0 || before) {
    std::optional<Operation> next;
    if (tensors.left() > 0) {
      Array<float> values = tensors.read(std::min(tensors.left(), piece));
      next = begin(Operation::Kind::allreduce, values.size(), tensors.sizes());
      send(other, *next, std::move(values));
    }
    if (before) {
      ++statistics_.steps;
      tensors.add(receive(other, *before, before->size));
    }
    before = next;
  }
}

struct Collective::Piece {
  Operation operation{};
  Array<float> values{};
  Array<float> sum{};  // the sum of this rank's slice
};

// Three pieces are under way: the slices of one are sent, the slices of the one before are summed, and the sums of the
// one before that are collected. So all ranks receive in the order in which the others send. A rank whose sum has
// arrived has read its inputs, so they can be overwritten.
void Collective::direct(Tensors& tensors, std::size_t piece) {
  std::optional<Piece> given;
  std::optional<Piece> summed;
  while (tensors.left() > 0 || given || summed) {
    std::optional<Piece> next;
    if (tensors.left() > 0) next = give(tensors.share(std::min(tensors.left(), piece)), tensors.sizes());
    if (given) sum(*given);
    if (summed) collect(*summed, tensors);
    summed = std::move(given);
    given = std::move(next);
  }
}

Collective::Slice Collective::summed_by(std::uint32_t rank, const Operation& operation) const {
  if (operation.size * sizeof(float) >= kOneSliceBytes) return slice(rank, operation.size);
  return {.begin = 0, .size = rank == operation.number % ranks_ ? operation.size : 0};
}

Collective::Piece Collective::give(Array<float> values, std::uint64_t sizes) {
  const Operation operation = begin(Operation::Kind::allreduce, values.size(), sizes);
  Piece piece{.operation = operation, .values = std::move(values)};
  for (std::uint32_t i = 1; i < ranks_; ++i) {
    const std::uint32_t rank = (rank_ + i) % ranks_;
    const Slice its = summed_by(rank, piece.operation);
    if (its.size > 0) send(rank, piece.operation, slice_of(piece.values, its));
  }
  return piece;
}

void Collective::sum(Piece& piece) {
  ++statistics_.steps;
  const Slice mine = summed_by(rank_, piece.operation);
  if (mine.size == 0) return;
  piece.sum = sum_of_all(piece.operation, slice_of(piece.values, mine));
  send_to_others(piece.operation, piece.sum);
}

void Collective::collect(const Piece& piece, Tensors& to) {
  ++statistics_.steps;
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    const Slice its = summed_by(rank, piece.operation);
    if (its.size > 0) to.write(rank == rank_ ? piece.sum : receive(rank, piece.operation, its.size));
  }
}

void Collective::ring(const Array<float>& values, Tensors& to) {
  const Operation operation = begin(Operation::Kind::allreduce, values.size(), to.sizes());
  const std::uint32_t right = (rank_ + 1) % ranks_;
  const std::uint32_t left = (rank_ + ranks_ - 1) % ranks_;
  std::vector<Array<float>> chunks;
  for (std::uint32_t chunk = 0; chunk < ranks_; ++chunk) {
    chunks.push_back(slice_of(values, slice(chunk, values.size())));
  }
  for (std::uint32_t step = 0; step < 2 * (ranks_ - 1); ++step) {
    ++statistics_.steps;
    send(right, operation, chunks[(rank_ + 2 * ranks_ - step) % ranks_]);
    Array<float>& next = chunks[(rank_ + 2 * ranks_ - step - 1) % ranks_];
    Array<float> received = receive(left, operation, next.size());
    next = step < ranks_ - 1 ? sum_of(received, next) : std::move(received);
  }
  for (const Array<float>& chunk : chunks) to.write(chunk);
}

void Collective::halving(Array<float> values, Tensors& to) {
  const Operation operation = begin(Operation::Kind::allreduce, values.size(), to.sizes());
  const std::uint32_t power = std::bit_floor(ranks_);
  const auto take = [&](std::uint32_t rank, std::size_t size) {
    ++statistics_.steps;
    return receive(rank, operation, size);
  };
  if (rank_ >= power) {
    send(rank_ - power, operation, values);
    to.write(take(rank_ - power, operation.size));
    return;
  }
  const bool has_guest = rank_ + power < ranks_;
  if (has_guest) values = sum_of(values, take(rank_ + power, operation.size));
  const auto slices = [&](std::uint32_t first, std::uint32_t count) {  // the number of values in `count` slices
    return operation.size * (first + count) / power - operation.size * first / power;
  };
  for (std::uint32_t half = power / 2; half > 0; half /= 2) {
    const std::uint32_t first = rank_ & ~(2 * half - 1);  // the slice with which `values` begin
    const Array<float> low = slice_of(values, {.begin = 0, .size = slices(first, half)});
    const Array<float> high = slice_of(values, {.begin = low.size(), .size = slices(first + half, half)});
    const bool upper = (rank_ & half) != 0;
    send(rank_ ^ half, operation, upper ? low : high);
    const Array<float>& kept = upper ? high : low;
    values = sum_of(kept, take(rank_ ^ half, kept.size()));
  }
  for (std::uint32_t bit = 1; bit < power; bit *= 2) {
    send(rank_ ^ bit, operation, values);
    const Array<float> theirs = take(rank_ ^ bit, slices((rank_ ^ bit) & ~(bit - 1), bit));
    values = (rank_ & bit) != 0 ? joined(theirs, values) : joined(values, theirs);
  }
  if (has_guest) send(rank_ + power, operation, values);
  to.write(values);
}

}  // namespace lp

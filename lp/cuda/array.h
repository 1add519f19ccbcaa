#pragma once
// An array that stays on the GPU. It is a value like lp::Array: it copies in O(1), its values never change, and it is
// an argument, a result, or the value of a Published.
//
//   lp::cuda::Stream stream;
//   const auto scaled = lp::cuda::Array<float>::make(stream, in.size(), [&](float* out) {
//     start_kernel(in.on(stream), out, in.size(), stream.native());
//   });
//   client.call<&Server::push>(scaled);
//
// Nodes of one process pass it on as it is, with the point in the work at which it is made: nobody waits for the GPU.
// Between processes its bytes travel as those of an lp::Array do, through pinned memory, and go to the GPU when
// somebody asks for them there. So a node without a GPU may receive it, also as lp::Array, and one with a GPU may
// receive an lp::Array as this. Any thread may copy and drop an array; a Stream is for one thread at a time.
//
// A GPU without enough memory ends the call that wanted some, with Error::overloaded, and nothing else.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "lp/base/array.h"
#include "lp/cuda/stream.h"
#include "lp/cuda/values.h"
#include "lp/wire/codec.h"

namespace lp::cuda {

template <ArrayItem T>
class Array {
 public:
  using value_type = T;

  Array() = default;
  // Values of the host. They go to a GPU when somebody asks for them there.
  Array(lp::Array<T> values)
      : values_(values.empty() ? nullptr : std::make_shared<Values>(values.buffer())), size_(values.size()) {}
  // `write(T*)` puts work into the stream that writes all `size` values.
  template <class Write>
  static Array make(Stream& stream, std::size_t size, Write&& write) {
    Array array;
    if (size == 0) return array;
    array.values_ = std::make_shared<Values>(size * sizeof(T), stream);
    array.size_ = size;
    std::forward<Write>(write)(static_cast<T*>(array.values_->memory()));
    array.values_->made(stream);
    return array;
  }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

  // The address at which work that is put into the stream from now on reads the values, as long as this array lives;
  // null for an empty one. They come from the host, or from another GPU, when they are not there.
  const T* on(Stream& stream) const { return empty() ? nullptr : static_cast<const T*>(values_->on(stream)); }

  // The values on the host. The first to ask waits for the work that makes them, and for their way from the GPU.
  lp::Array<T> host() const { return empty() ? lp::Array<T>() : lp::Array<T>(values_->host()); }
  operator lp::Array<T>() const { return host(); }

 private:
  std::shared_ptr<Values> values_;  // null: empty
  std::size_t size_ = 0;
};

}  // namespace lp::cuda

namespace lp {

// The bytes are those of lp::Array, so that either is received as the other.
template <class T>
  requires wire::WireItem<T>
struct Codec<cuda::Array<T>> {
  static void encode(Writer& writer, const cuda::Array<T>& array) { Codec<Array<T>>::encode(writer, array.host()); }
  static cuda::Array<T> decode(Reader& reader) { return Codec<Array<T>>::decode(reader); }
  using Parts = TypeList<T>;
  static std::string shape() { return Codec<Array<T>>::shape(); }
};

}  // namespace lp

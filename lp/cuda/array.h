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
#include <type_traits>
#include <utility>

#include "lp/base/array.h"
#include "lp/cuda/ipc_memory.h"
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

  // For the codec: the values that a process of this host has named in a frame; and the frame that names these, empty
  // if there is none.
  Array(std::size_t size, Buffer name)
      : values_(std::make_shared<Values>(size * sizeof(T), std::move(name))), size_(size) {}
  Buffer name(const MessageReceiver& receiver) const { return empty() ? Buffer() : values_->name(receiver); }

  // The values on the host. The first to ask waits for the work that makes them, and for their way from the GPU.
  lp::Array<T> host() const { return empty() ? lp::Array<T>() : lp::Array<T>(values_->host()); }
  operator lp::Array<T>() const { return host(); }

 private:
  std::shared_ptr<Values> values_;  // null: empty
  std::size_t size_ = 0;
};

}  // namespace lp::cuda

namespace lp {

// The bytes are those of lp::Array, so that either is received as the other. For a process of this host that opens the
// memory of the GPU, a frame names them instead.
template <class T>
  requires wire::WireItem<T>
struct Codec<cuda::Array<T>> {
  static constexpr bool kNamed = !std::is_same_v<T, bool>;  // bytes of bools are looked through

  static void encode(Writer& writer, const cuda::Array<T>& array) {
    const Buffer name = kNamed && writer.receiver() != nullptr ? array.name(*writer.receiver()) : Buffer();
    writer.count(array.size());
    if (name.empty() || !writer.name(name)) writer.array(array.host().buffer());
  }
  static cuda::Array<T> decode(Reader& reader) {
    const auto count = reader.number<std::uint64_t>();
    if constexpr (kNamed) {
      Buffer name = reader.name(count, sizeof(T), cuda::ValuesName::kFrame);
      if (!name.empty()) return cuda::Array<T>(count, std::move(name));
    }
    Array<T> values(reader.shared_array(count, sizeof(T), alignof(T)));
    if constexpr (!kNamed) wire::check_bools(reader, values.buffer().bytes());
    return values;
  }
  using Parts = TypeList<T>;
  static std::string shape() { return Codec<Array<T>>::shape(); }
};

}  // namespace lp

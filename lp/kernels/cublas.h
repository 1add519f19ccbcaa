#pragma once
// cuBLAS for one stream. Its library is loaded when the first object is made: it is large, and most programs of a build
// with a toolkit never multiply on a GPU. Sources that need a CUDA toolkit use it; this header needs none.
//
// Owned by the queue of a device; one thread at a time.

#include <memory>

#include "lp/kernels/queue.h"

namespace lp::kernels {

class Cublas {
 public:
  // `stream` is a cudaStream_t. Error::failed when the library is not there, or does not start, with the reason.
  explicit Cublas(void* stream);
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  // When the stream comes to it.
  void multiply(const Product& product);

 private:
  class Handle;
  std::unique_ptr<Handle> handle_;
};

}  // namespace lp::kernels

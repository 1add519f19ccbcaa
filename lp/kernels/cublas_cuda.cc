#include <cublas_v2.h>

#include <cstdint>
#include <string>

#include "lp/base/error.h"
#include "lp/gpu/shared_library.h"
#include "lp/kernels/cublas.h"

namespace lp::kernels {
namespace {

// The version that the toolkit has: from where the dynamic linker looks, else from the toolkit's own folder.
gpu::SharedLibrary cublas_library() {
  const std::string name = "libcublas.so." + std::to_string(CUBLAS_VER_MAJOR);
  try {
    return gpu::SharedLibrary(name);
  } catch (const Error&) {
    return gpu::SharedLibrary(LP_CUDA_LIBRARIES "/" + name);
  }
}

constexpr cublasOperation_t operation(bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; }

}  // namespace

class Cublas::Handle {
 public:
  explicit Handle(cudaStream_t stream) : library_(cublas_library()) {
    decltype(&cublasCreate_v2) create = nullptr;
    decltype(&cublasSetStream_v2) set_stream = nullptr;
    library_.get("cublasCreate_v2", create);
    library_.get("cublasSetStream_v2", set_stream);
    library_.get("cublasDestroy_v2", destroy_);
    library_.get("cublasSgemm_v2_64", multiply_);
    library_.get("cublasGetStatusString", text_);
    check(create(&handle_), "cuBLAS does not start");
    check(set_stream(handle_, stream), "cuBLAS does not take a stream");
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (handle_ != nullptr) destroy_(handle_);
  }

  void multiply(const Product& product) const {
    const bool first = product.transposed == Product::Transposed::first;
    const bool second = product.transposed == Product::Transposed::second;
    const auto rows = static_cast<std::int64_t>(product.rows);
    const auto columns = static_cast<std::int64_t>(product.columns);
    const auto inner = static_cast<std::int64_t>(product.inner);
    if (rows == 0 || columns == 0) return;
    const auto distance = [](std::int64_t size) { return size == 0 ? 1 : size; };  // cuBLAS takes none of 0
    const float one = 1;
    const float zero = 0;
    check(multiply_(handle_, operation(first), operation(second), rows, columns, inner, &one, product.a,
                    distance(first ? inner : rows), product.b, distance(second ? columns : inner), &zero, product.c,
                    rows),
          "cuBLAS cannot multiply");
  }

 private:
  void check(cublasStatus_t status, const char* what) const {
    if (status != CUBLAS_STATUS_SUCCESS) throw_failed(std::string(what) + ": " + text_(status));
  }

  gpu::SharedLibrary library_;
  decltype(&cublasDestroy_v2) destroy_ = nullptr;
  decltype(&cublasSgemm_v2_64) multiply_ = nullptr;
  decltype(&cublasGetStatusString) text_ = nullptr;
  cublasHandle_t handle_ = nullptr;
};

Cublas::Cublas(void* stream) : handle_(std::make_unique<Handle>(static_cast<cudaStream_t>(stream))) {}
Cublas::~Cublas() = default;
void Cublas::multiply(const Product& product) { handle_->multiply(product); }

}  // namespace lp::kernels

#include "programs/networks/products.h"

#define LP_VECTORS any_processor
#include "programs/networks/products_inl.h"
#undef LP_VECTORS

namespace lp {

#if defined(__x86_64__)
namespace avx2 {
void multiply(const Product& product, float* out);
void multiply_add(const Product& product, float* out);
void tanh_all(float* values, std::ptrdiff_t count);
}  // namespace avx2

namespace {
const bool kAvx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
}  // namespace
#else
namespace avx2 = any_processor;
namespace {
constexpr bool kAvx2 = false;
}  // namespace
#endif

void multiply(const Product& product, float* out) { (kAvx2 ? avx2::multiply : any_processor::multiply)(product, out); }
void multiply_add(const Product& product, float* out) {
  (kAvx2 ? avx2::multiply_add : any_processor::multiply_add)(product, out);
}
void tanh_all(float* values, std::ptrdiff_t count) {
  (kAvx2 ? avx2::tanh_all : any_processor::tanh_all)(values, count);
}

}  // namespace lp

#pragma once
// The arithmetic of layers in the widest vectors that the processor has. With AVX2 it is two to three times as fast as
// with what every x86-64 has. So the last bits of a result depend on the processor. Functions of values; any thread.

#include <cstddef>

namespace lp {

// A product of two matrices, which lie in columns without gaps. A side that is transposed lies there as its transpose.
struct Product {
  struct Side {
    const float* values = nullptr;
    bool transposed = false;
  };
  Side left{};   // rows × inner
  Side right{};  // inner × columns
  std::ptrdiff_t rows = 0;
  std::ptrdiff_t inner = 0;
  std::ptrdiff_t columns = 0;
};

// Writes the product to `out`, rows × columns, which no side overlaps.
void multiply(const Product& product, float* out);
// Adds the product to `out`.
void multiply_add(const Product& product, float* out);
// Replaces each value by its hyperbolic tangent.
void tanh_all(float* values, std::ptrdiff_t count);

}  // namespace lp

// The arithmetic of layers for processors with AVX2 and FMA: this file alone is compiled for them. All of Eigen gets
// another name here, since the linker would else take one of two functions of the same name, perhaps this one, for a
// processor that cannot execute it.

#if defined(__AVX2__) && defined(__FMA__)
#define Eigen EigenAvx2
#define LP_VECTORS avx2
#include "programs/networks/products_inl.h"
#endif

#pragma once
// LP_HOST_DEVICE marks a function that the host calls and that kernels of a GPU call, too. To other compilers than
// nvcc, it means nothing. Such functions do floating-point arithmetic in the same order everywhere, and the sources
// that call them are built without fused multiply-add, so that both sides get the same bits.

#ifdef __CUDACC__
#define LP_HOST_DEVICE __host__ __device__
#else
#define LP_HOST_DEVICE
#endif

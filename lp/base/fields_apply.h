#pragma once
// Takes "all the fields, however many", which C++20 cannot express. There is a line for each number of fields.

#include <cstddef>

namespace lp::internal {

#define LP_FIELDS_8 f0, f1, f2, f3, f4, f5, f6, f7
#define LP_FIELDS_16 LP_FIELDS_8, f8, f9, f10, f11, f12, f13, f14, f15
#define LP_FIELDS_24 LP_FIELDS_16, f16, f17, f18, f19, f20, f21, f22, f23
#define LP_FIELDS_32 LP_FIELDS_24, f24, f25, f26, f27, f28, f29, f30, f31
#define LP_FIELDS_40 LP_FIELDS_32, f32, f33, f34, f35, f36, f37, f38, f39
#define LP_FIELDS_48 LP_FIELDS_40, f40, f41, f42, f43, f44, f45, f46, f47
#define LP_FIELDS_56 LP_FIELDS_48, f48, f49, f50, f51, f52, f53, f54, f55
#define LP_APPLY(count, ...)       \
  else if constexpr (N == count) { \
    auto& [__VA_ARGS__] = value;   \
    return visit(__VA_ARGS__);     \
  }

// Calls visit(field, field, ...) for a T that has N fields.
// clang-format off
template <std::size_t N, class T, class Visit>
constexpr decltype(auto) apply_counted(T& value, Visit&& visit) {
  if constexpr (N == 0) { return visit(); }
  LP_APPLY(1, f0)
  LP_APPLY(2, f0, f1)
  LP_APPLY(3, f0, f1, f2)
  LP_APPLY(4, f0, f1, f2, f3)
  LP_APPLY(5, f0, f1, f2, f3, f4)
  LP_APPLY(6, f0, f1, f2, f3, f4, f5)
  LP_APPLY(7, f0, f1, f2, f3, f4, f5, f6)
  LP_APPLY(8, LP_FIELDS_8)
  LP_APPLY(9, LP_FIELDS_8, f8)
  LP_APPLY(10, LP_FIELDS_8, f8, f9)
  LP_APPLY(11, LP_FIELDS_8, f8, f9, f10)
  LP_APPLY(12, LP_FIELDS_8, f8, f9, f10, f11)
  LP_APPLY(13, LP_FIELDS_8, f8, f9, f10, f11, f12)
  LP_APPLY(14, LP_FIELDS_8, f8, f9, f10, f11, f12, f13)
  LP_APPLY(15, LP_FIELDS_8, f8, f9, f10, f11, f12, f13, f14)
  LP_APPLY(16, LP_FIELDS_16)
  LP_APPLY(17, LP_FIELDS_16, f16)
  LP_APPLY(18, LP_FIELDS_16, f16, f17)
  LP_APPLY(19, LP_FIELDS_16, f16, f17, f18)
  LP_APPLY(20, LP_FIELDS_16, f16, f17, f18, f19)
  LP_APPLY(21, LP_FIELDS_16, f16, f17, f18, f19, f20)
  LP_APPLY(22, LP_FIELDS_16, f16, f17, f18, f19, f20, f21)
  LP_APPLY(23, LP_FIELDS_16, f16, f17, f18, f19, f20, f21, f22)
  LP_APPLY(24, LP_FIELDS_24)
  LP_APPLY(25, LP_FIELDS_24, f24)
  LP_APPLY(26, LP_FIELDS_24, f24, f25)
  LP_APPLY(27, LP_FIELDS_24, f24, f25, f26)
  LP_APPLY(28, LP_FIELDS_24, f24, f25, f26, f27)
  LP_APPLY(29, LP_FIELDS_24, f24, f25, f26, f27, f28)
  LP_APPLY(30, LP_FIELDS_24, f24, f25, f26, f27, f28, f29)
  LP_APPLY(31, LP_FIELDS_24, f24, f25, f26, f27, f28, f29, f30)
  LP_APPLY(32, LP_FIELDS_32)
  LP_APPLY(33, LP_FIELDS_32, f32)
  LP_APPLY(34, LP_FIELDS_32, f32, f33)
  LP_APPLY(35, LP_FIELDS_32, f32, f33, f34)
  LP_APPLY(36, LP_FIELDS_32, f32, f33, f34, f35)
  LP_APPLY(37, LP_FIELDS_32, f32, f33, f34, f35, f36)
  LP_APPLY(38, LP_FIELDS_32, f32, f33, f34, f35, f36, f37)
  LP_APPLY(39, LP_FIELDS_32, f32, f33, f34, f35, f36, f37, f38)
  LP_APPLY(40, LP_FIELDS_40)
  LP_APPLY(41, LP_FIELDS_40, f40)
  LP_APPLY(42, LP_FIELDS_40, f40, f41)
  LP_APPLY(43, LP_FIELDS_40, f40, f41, f42)
  LP_APPLY(44, LP_FIELDS_40, f40, f41, f42, f43)
  LP_APPLY(45, LP_FIELDS_40, f40, f41, f42, f43, f44)
  LP_APPLY(46, LP_FIELDS_40, f40, f41, f42, f43, f44, f45)
  LP_APPLY(47, LP_FIELDS_40, f40, f41, f42, f43, f44, f45, f46)
  LP_APPLY(48, LP_FIELDS_48)
  LP_APPLY(49, LP_FIELDS_48, f48)
  LP_APPLY(50, LP_FIELDS_48, f48, f49)
  LP_APPLY(51, LP_FIELDS_48, f48, f49, f50)
  LP_APPLY(52, LP_FIELDS_48, f48, f49, f50, f51)
  LP_APPLY(53, LP_FIELDS_48, f48, f49, f50, f51, f52)
  LP_APPLY(54, LP_FIELDS_48, f48, f49, f50, f51, f52, f53)
  LP_APPLY(55, LP_FIELDS_48, f48, f49, f50, f51, f52, f53, f54)
  LP_APPLY(56, LP_FIELDS_56)
  LP_APPLY(57, LP_FIELDS_56, f56)
  LP_APPLY(58, LP_FIELDS_56, f56, f57)
  LP_APPLY(59, LP_FIELDS_56, f56, f57, f58)
  LP_APPLY(60, LP_FIELDS_56, f56, f57, f58, f59)
  LP_APPLY(61, LP_FIELDS_56, f56, f57, f58, f59, f60)
  LP_APPLY(62, LP_FIELDS_56, f56, f57, f58, f59, f60, f61)
  LP_APPLY(63, LP_FIELDS_56, f56, f57, f58, f59, f60, f61, f62)
  LP_APPLY(64, LP_FIELDS_56, f56, f57, f58, f59, f60, f61, f62, f63)
}
// clang-format on

#undef LP_APPLY
#undef LP_FIELDS_8
#undef LP_FIELDS_16
#undef LP_FIELDS_24
#undef LP_FIELDS_32
#undef LP_FIELDS_40
#undef LP_FIELDS_48
#undef LP_FIELDS_56

}  // namespace lp::internal

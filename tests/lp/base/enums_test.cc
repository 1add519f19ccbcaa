#include "lp/base/enums.h"

#include <gtest/gtest.h>

namespace {

enum class Colour { red, green, dark_blue };
enum class Narrow : unsigned char { a, b };
enum Old { old_a, old_b };

template <class T, int>
struct Outer {
  enum class Inner { first, second };
};

static_assert(lp::enum_name(Colour::red) == "red");
static_assert(lp::enum_name(Colour::dark_blue) == "dark_blue");
static_assert(lp::enum_name(Narrow::b) == "b");
static_assert(lp::enum_name(Outer<int, 3>::Inner::second) == "second");
static_assert(!lp::NamedEnum<Old> && !lp::NamedEnum<int>);

TEST(Enums, AValueWithoutANameHasAnEmptyOne) {
  EXPECT_EQ(lp::enum_name(static_cast<Colour>(3)), "");
  EXPECT_EQ(lp::enum_name(static_cast<Colour>(-1)), "");
}

}  // namespace

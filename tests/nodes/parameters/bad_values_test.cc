// Which values a gradient may have: every finite one, and no other, at any place.

#include "nodes/parameters/bad_values.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "lp/base/error.h"

namespace lp {
namespace {

using Limits = std::numeric_limits<float>;

TEST(BadValues, EveryFiniteValueIsAccepted) {
  const std::vector<float> values{0.0F,  -0.0F,         Limits::denorm_min(), Limits::min(),
                                  -1.0F, Limits::max(), -Limits::max()};
  EXPECT_FALSE(must_clip(BadValues::refuse, values, "the gradient"));
  EXPECT_FALSE(must_clip(BadValues::clip, values, "the gradient"));
}

TEST(BadValues, EachOtherIsFoundAtEachPlace) {
  for (const float bad :
       {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), -Limits::quiet_NaN(), Limits::signaling_NaN()}) {
    for (std::size_t place = 0; place < 37; ++place) {
      std::vector<float> values(37, -2.0F);
      values[place] = bad;
      EXPECT_TRUE(must_clip(BadValues::clip, values, "the gradient")) << bad << " at " << place;
      EXPECT_FALSE(must_clip(BadValues::pass, values, "the gradient"));
      try {
        must_clip(BadValues::refuse, values, "the gradient");
        ADD_FAILURE() << bad << " at " << place;
      } catch (const Error& error) {
        EXPECT_NE(error.text().find("at element " + std::to_string(place) + ";"), std::string::npos) << error.text();
      }
    }
  }
}

}  // namespace
}  // namespace lp

// Secrets: they have the requested length, and no two are equal.

#include "lp/base/secret.h"

#include <gtest/gtest.h>

namespace lp {
namespace {

TEST(Secret, IsAsLongAsAskedForAndNeverTheSame) {
  EXPECT_EQ(secret_bytes(10).size(), 10U);
  EXPECT_NE(secret_bytes(16), secret_bytes(16));
  const std::string text = secret_text(16);
  EXPECT_EQ(text.size(), 32U);
  EXPECT_EQ(text.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(text, secret_text(16));
}

TEST(Secret, IsComparedAsAWhole) {
  EXPECT_TRUE(same_secret("abc", "abc"));
  EXPECT_FALSE(same_secret("abd", "abc"));
  EXPECT_FALSE(same_secret("ab", "abc"));
  EXPECT_FALSE(same_secret("", "abc"));
}

}  // namespace
}  // namespace lp

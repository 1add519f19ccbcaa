#include "lp/base/error.h"

#include <gtest/gtest.h>

#include <exception>
#include <stdexcept>
#include <string>

#include "lp/base/utf8.h"

namespace lp::test {
namespace {

TEST(Errors, ALongTextIsCutOffBetweenCharacters) {
  std::string text = "x";
  while (text.size() < 3'000'000) text += "\u00e9";  // two bytes
  const Error error = as_error(std::make_exception_ptr(std::runtime_error(text)));
  EXPECT_LT(error.text().size(), Error::kLongestText + 100);
  EXPECT_TRUE(is_utf8(error.text()));
  EXPECT_TRUE(error.text().ends_with("... (2934466 more bytes)")) << error.text().size();
  EXPECT_EQ(error.origin().type, "std::runtime_error");
}

TEST(Errors, AShortTextStaysAsItIs) {
  const std::string text(Error::kLongestText, 'x');
  EXPECT_EQ(Error(ErrorKind::failed, text).text(), text);
}

}  // namespace
}  // namespace lp::test

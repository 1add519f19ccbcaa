#include "lp/wire/reader.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "lp/base/error.h"
#include "tests/lp/wire/everything.h"
#include "tests/lp/wire/round_trip.h"

namespace lp {
namespace {

using everything::Everything;
using everything::Nothing;
using everything::Tree;

// A body of numbers, each in the width of its type.
template <class... T>
Message body(T... numbers) {
  Writer writer;
  (writer.number(numbers), ...);
  return writer.take();
}

constexpr std::uint64_t kHuge = std::uint64_t{1} << 60;

template <class T>
void expect_refused(const Message& frames, std::string_view because) {
  try {
    decoded<T>(frames);
    ADD_FAILURE() << type_name<T> << " was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::failed);
    EXPECT_NE(error.text().find(because), std::string::npos) << error.text();
  }
}

TEST(Reader, SaysWhatIsWrongAndWhere) {
  try {
    decoded<std::map<int, Tree>>(body(std::uint64_t{1}, 5, 6, std::uint64_t{77}));
    FAIL();
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("more values are announced than there are bytes (at byte 24 of 24, reading std::vector<lp::"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("in lp::everything::Tree in "), std::string::npos) << text;
  }
}

TEST(Reader, AMessageThatEndsAnywhereIsRefused) {
  for (const std::size_t size : {4u, 5000u}) {
    const Message frames = encoded(everything::sample(size));
    for (std::size_t length = 0; length < frames.body.size(); ++length) {
      const Buffer part = Buffer::copy_of(frames.body.bytes().first(length));  // so that a sanitizer sees the end
      EXPECT_THROW(decoded<Everything>(part.bytes(), frames.arrays), Error) << length;
    }
    for (std::size_t arrays = 0; arrays < frames.arrays.size(); ++arrays) {
      EXPECT_THROW(decoded<Everything>(frames.body.bytes(), std::span(frames.arrays).first(arrays)), Error);
    }
  }
}

// No flip may crash; most are other values.
TEST(Reader, AnyByteMayBeWrong) {
  for (const std::size_t size : {4u, 1500u}) {
    const Message frames = encoded(everything::sample(size));
    for (std::size_t i = 0; i < frames.body.size(); ++i) {
      for (const int flip : {0x01, 0x80, 0xff}) {
        Buffer wrong = frames.body;
        wrong.edit()[i] ^= static_cast<std::byte>(flip);
        try {
          decoded<Everything>(wrong.bytes(), frames.arrays);
        } catch (const Error&) {
        }
      }
    }
  }
}

TEST(Reader, ClaimsOfMoreThanThereIsAreRefused) {
  for (const std::uint64_t count : {std::uint64_t{5}, kHuge, std::uint64_t{1} << 61, ~std::uint64_t{0}}) {
    expect_refused<std::string>(body(count), "");
    expect_refused<std::vector<double>>(body(count), "");
    expect_refused<std::vector<bool>>(body(count), "more values are announced");
    expect_refused<std::vector<std::string>>(body(count), "more values are announced");
    expect_refused<std::vector<Nothing>>(body(count), "more values are announced");
    expect_refused<std::vector<std::array<Nothing, 0>>>(body(count), "more values are announced");
    expect_refused<std::set<int>>(body(count), "more values are announced");
    expect_refused<std::map<int, Nothing>>(body(count), "more values are announced");
    expect_refused<Array<double>>(body(count), "");
  }
  expect_refused<Array<double>>(body(kHuge), "the frame of an array is missing");
}

TEST(Reader, FramesMustHaveTheSizeThatIsAnnounced) {
  Message frames = encoded(Array<double>(1000));
  frames.arrays[0] = frames.arrays[0].slice(0, 7992);
  expect_refused<Array<double>>(frames, "has 7992 bytes where 8000 are announced");
}

TEST(Reader, WhatIsLeftOverIsRefused) {
  expect_refused<int>(body(1, std::uint8_t{2}), "1 bytes left over");
  Message frames = encoded(1);
  frames.arrays.push_back(Buffer::zeroed(10));
  expect_refused<int>(frames, "1 array frames are left over");
}

TEST(Reader, InvalidValuesAreRefused) {
  expect_refused<bool>(body(std::uint8_t{2}), "neither 0 nor 1");
  expect_refused<std::vector<bool>>(body(std::uint64_t{1}, std::uint8_t{2}), "neither 0 nor 1");
  expect_refused<Array<bool>>(body(std::uint64_t{1}, std::uint8_t{255}), "neither 0 nor 1");
  expect_refused<std::optional<int>>(body(std::uint8_t{3}, 1), "neither 0 nor 1");
  expect_refused<std::variant<int, float>>(body(std::uint8_t{2}, 1), "no such alternative");
  expect_refused<Nothing>(body(std::uint8_t{1}), "not 0");
  expect_refused<std::set<int>>(body(std::uint64_t{2}, 1, 1), "a key is given twice");
  expect_refused<everything::Interval>(body(2.0, 1.0), "an Interval ends before it begins");
}

TEST(Reader, NestingIsBounded) {
  Writer writer;
  for (int i = 0; i < 100000; ++i) {
    writer.number(0);
    writer.count(1);
  }
  expect_refused<Tree>(writer.take(), "too deep");
}

TEST(Reader, ReadsSeveralValuesInOrder) {
  Writer writer;
  writer.value(1);
  writer.value(std::string("two"));
  const Message frames = writer.take();
  Reader reader(frames.body.bytes(), frames.arrays);
  EXPECT_EQ(reader.value<int>(), 1);
  EXPECT_EQ(reader.value<std::string>(), "two");
  EXPECT_NO_THROW(reader.finish());
}

}  // namespace
}  // namespace lp

#include "lp/wire/codec.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>

#include "lp/base/error.h"
#include "tests/lp/wire/everything.h"
#include "tests/lp/wire/round_trip.h"

namespace lp {
namespace {

// Its construction may fail, so a variant of it can be left without a value.
class Fragile {
 public:
  explicit Fragile(int size) {
    if (size < 0) throw std::invalid_argument("negative");
  }
  Fragile(Fragile&&) {}  // may throw
  Fragile& operator=(Fragile&&) = default;
};

}  // namespace

template <>
struct Codec<Fragile> {
  static void encode(Writer& writer, const Fragile&) { writer.value(1); }
  static Fragile decode(Reader& reader) { return Fragile(reader.value<int>()); }
};

namespace {

using everything::Color;
using everything::Everything;
using everything::Point;
using everything::Tree;

enum Unfixed { first_unfixed };
struct WithPointer {
  int* pointer;
};
struct WithView {
  std::string_view view;
};
struct WithArray {
  int array[3];
};
struct Base {
  int base;
};
struct Derived : Base {
  int derived;
};
struct Polymorphic {
  virtual ~Polymorphic() = default;
};
struct Padded {
  std::uint8_t small;
  std::uint32_t large;
};

static_assert(Sendable<Everything> && Sendable<Tree> && Sendable<std::vector<std::unique_ptr<Tree>>>);
static_assert(check_sendable<Everything>());
static_assert(!Sendable<int*> && !Sendable<int&> && !Sendable<const int> && !Sendable<int[3]> && !Sendable<void>);
static_assert(!Sendable<std::nullptr_t> && !Sendable<long double> && !Sendable<Unfixed>);
static_assert(!Sendable<std::string_view> && !Sendable<std::span<int>> && !Sendable<std::function<void()>>);
static_assert(!Sendable<std::mutex> && !Sendable<std::reference_wrapper<int>> && !Sendable<std::shared_ptr<int>>);
static_assert(!Sendable<WithPointer> && !Sendable<std::vector<WithPointer>> && !Sendable<std::map<int, WithView>>);
static_assert(!Sendable<WithArray> && !Sendable<std::optional<WithArray>> && !Sendable<Derived>);
static_assert(!Sendable<std::unique_ptr<Polymorphic>> && !Sendable<std::unique_ptr<int[]>>);
static_assert(!Sendable<std::variant<int, int*>> && !Sendable<std::pair<int, void (*)()>>);
// An Array is sent as it lies in memory, so its items have no padding, no pointers and no bool inside.
static_assert(Sendable<Array<Point>> && Sendable<Array<std::array<Color, 2>>> && Sendable<Array<bool>>);
static_assert(!Sendable<Array<Padded>> && !Sendable<Array<WithPointer>> && !Sendable<Array<std::array<bool, 2>>>);
static_assert(Sendable<std::vector<Padded>>);

TEST(Codec, NumbersKeepTheirBits) {
  EXPECT_EQ(round_trip(std::numeric_limits<std::int64_t>::min()), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(round_trip(std::uint8_t{255}), 255);
  EXPECT_EQ(round_trip(true), true);
  EXPECT_EQ(round_trip('x'), 'x');
  EXPECT_TRUE(std::isnan(round_trip(std::nanf(""))));
  EXPECT_TRUE(std::signbit(round_trip(-0.0)));
  EXPECT_EQ(round_trip(Color::green), Color::green);
  EXPECT_EQ(encoded(std::uint32_t{0x01020304}).body.bytes()[0], std::byte{4});  // little-endian
}

TEST(Codec, StandardValues) {
  using namespace std::chrono_literals;
  EXPECT_EQ(round_trip(std::string()), "");
  EXPECT_EQ(round_trip(std::string("a\0b", 3)), std::string("a\0b", 3));
  EXPECT_EQ(round_trip(std::vector<bool>{true, false}), (std::vector<bool>{true, false}));
  EXPECT_EQ(round_trip(std::vector<std::string>{"a", ""}), (std::vector<std::string>{"a", ""}));
  EXPECT_EQ(round_trip(std::array<std::string, 2>{"a", "b"}), (std::array<std::string, 2>{"a", "b"}));
  EXPECT_EQ(round_trip(std::array<int, 0>{}), (std::array<int, 0>{}));
  EXPECT_EQ(round_trip(std::optional<int>()), std::nullopt);
  const std::optional<std::optional<int>> empty_inside(std::in_place);
  EXPECT_EQ(round_trip(empty_inside), empty_inside);
  EXPECT_EQ((round_trip(std::variant<int, std::string>("a"))), (std::variant<int, std::string>("a")));
  EXPECT_EQ((round_trip(std::pair<int, std::string>(1, "a"))), (std::pair<int, std::string>(1, "a")));
  EXPECT_EQ(round_trip(std::tuple<>()), std::tuple<>());
  EXPECT_EQ(round_trip(std::chrono::nanoseconds(-5)), -5ns);
  EXPECT_EQ(round_trip(std::chrono::duration<double>(0.5)), 0.5s);
  EXPECT_EQ(*round_trip(std::make_unique<int>(3)), 3);
  EXPECT_EQ(round_trip(std::unique_ptr<int>()), nullptr);
}

TEST(Codec, SetsAndMaps) {
  const std::map<std::string, std::vector<int>> map{{"a", {1}}, {"b", {}}};
  const std::unordered_map<int, std::string> hashed{{1, "a"}, {2, "b"}};
  const std::multimap<int, int> many{{1, 2}, {1, 1}, {0, 5}};
  EXPECT_EQ(round_trip(map), map);
  EXPECT_EQ(round_trip(hashed), hashed);
  EXPECT_EQ(round_trip(many), many);
  EXPECT_EQ(round_trip(std::set<int>{2, 1}), (std::set<int>{1, 2}));
  EXPECT_EQ(round_trip(std::unordered_set<std::string>{"x"}), (std::unordered_set<std::string>{"x"}));
}

TEST(Codec, AggregatesFieldByField) {
  const Padded padded = round_trip(Padded{1, 2});
  EXPECT_EQ(padded.small, 1);
  EXPECT_EQ(padded.large, 2u);
  EXPECT_EQ(encoded(Padded{1, 2}).body.size(), 5u);
  EXPECT_EQ(encoded(everything::Nothing{}).body.size(), 1u);
  EXPECT_EQ(round_trip(everything::Numbers{.constant = 9}).constant, 9);
}

TEST(Codec, EverythingKeepsItsBytes) {
  for (const std::size_t size : {0u, 4u, 5000u}) {
    const Message frames = encoded(everything::sample(size));
    EXPECT_TRUE(same_bytes(frames, encoded(decoded<Everything>(frames)))) << size;
  }
}

TEST(Codec, ATypeThatContainsItself) {
  Tree tree;
  tree.children.resize(2);
  tree.children[1].value = 7;
  tree.children[1].left = std::make_unique<Tree>();
  tree.children[1].left->value = 8;
  const Tree back = round_trip(tree);
  ASSERT_EQ(back.children.size(), 2u);
  EXPECT_EQ(back.children[1].left->value, 8);
}

Tree chain(int length) {
  Tree tree;
  for (int i = 1; i < length; ++i) {
    Tree outer;
    outer.children.push_back(std::move(tree));
    tree = std::move(outer);
  }
  return tree;
}

TEST(Codec, ValuesNestedTooDeeplyAreRefusedByTheSender) {
  EXPECT_NO_THROW(round_trip(chain(kMaxNesting / 2)));
  try {
    encoded(chain(kMaxNesting / 2 + 1));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.text().find("200 levels deep"), std::string::npos) << error.what();
  }
}

TEST(Codec, AValuelessVariantIsRefused) {
  std::variant<int, Fragile> value(1);
  EXPECT_ANY_THROW(value.emplace<Fragile>(-1));
  ASSERT_TRUE(value.valueless_by_exception());
  EXPECT_THROW(encoded(value), Error);
}

TEST(Codec, ArraysAreSharedNotCopied) {
  const Array<float> array = Array<float>(10000);
  const Message frames = encoded(array);
  ASSERT_EQ(frames.arrays.size(), 1u);
  EXPECT_EQ(static_cast<const void*>(frames.arrays[0].data()), array.data());
  EXPECT_EQ(frames.body.size(), 8u);  // the count
  EXPECT_EQ(decoded<Array<float>>(frames).data(), array.data());
}

TEST(Codec, ArraysAreFramesFromFourKibibytesOn) {
  EXPECT_EQ(encoded(Array<std::uint8_t>(4095)).arrays.size(), 0u);
  EXPECT_EQ(encoded(Array<std::uint8_t>(4096)).arrays.size(), 1u);
  EXPECT_EQ(encoded(std::vector<double>(512)).arrays.size(), 1u);
  EXPECT_EQ(encoded(std::string(4096, 'x')).arrays.size(), 1u);
  EXPECT_EQ(encoded(std::array<double, 600>()).arrays.size(), 1u);
  for (const std::size_t size : {0u, 1u, 511u, 512u, 5000u}) {
    std::vector<double> values(size, 0.5);
    EXPECT_EQ(round_trip(values), values);
    EXPECT_EQ(round_trip(Array<double>::copy_of(values)), Array<double>::copy_of(values));
  }
}

TEST(Codec, OnlySoManyArraysAreFrames) {
  std::vector<std::vector<double>> values(kMaxArrayFrames + 10, std::vector<double>(600));
  for (std::size_t i = 0; i < values.size(); ++i) values[i][7] = static_cast<double>(i);
  const Message frames = encoded(values);
  EXPECT_EQ(frames.arrays.size(), kMaxArrayFrames);
  EXPECT_EQ(decoded<decltype(values)>(frames), values);
}

TEST(Codec, AMisalignedFrameIsCopied) {
  std::vector<double> values(1000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  Message frames = encoded(values);
  for (const std::size_t offset : {0u, 1u, 4u, 8u}) {
    Buffer moved = Buffer::uninitialized(frames.arrays[0].size() + offset);
    std::memcpy(moved.edit().data() + offset, frames.arrays[0].data(), frames.arrays[0].size());
    const std::vector<Buffer> arrays{moved.slice(offset, frames.arrays[0].size())};
    EXPECT_EQ(decoded<std::vector<double>>(frames.body.bytes(), arrays), values);
    const auto array = decoded<Array<double>>(frames.body.bytes(), arrays);
    EXPECT_EQ(array, Array<double>::copy_of(values));
    EXPECT_TRUE(array.buffer().aligned_to(alignof(double)));
    EXPECT_EQ(array.buffer().data() == arrays[0].data(), offset % alignof(double) == 0);
  }
}

TEST(Codec, AFrontIsLeftBlank) {
  Writer writer(16);
  writer.value(std::uint8_t{7});
  EXPECT_EQ(writer.written(), 17u);
  const Message frames = writer.take();
  ASSERT_EQ(frames.body.size(), 17u);
  EXPECT_EQ(frames.body.bytes()[15], std::byte{0});
  EXPECT_EQ(decoded<std::uint8_t>(frames.body.bytes().subspan(16)), 7);
}

TEST(Codec, ManySmallValuesGrowTheBody) {
  const std::vector<std::string> values(10000, "0123456789");
  EXPECT_EQ(round_trip(values), values);
}

}  // namespace
}  // namespace lp

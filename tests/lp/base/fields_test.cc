#include "lp/base/fields.h"

#include <gtest/gtest.h>

#include <any>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace lp {
namespace {

struct None {};
struct One {
  int only = 0;
};
struct Nested {
  One one;
  std::array<int, 3> three;
  None none;
};
struct Rich {
  bool flag = false;
  std::string name_1 = "x";
  std::vector<std::vector<int>> rows;
  std::optional<int> maybe;
  std::variant<int, std::string> either;
  std::map<std::string, int> ordered;
  std::unordered_map<int, std::string> hashed;
  std::unique_ptr<int> owned;
  std::function<void()> callable;
  std::any anything;
  std::pair<int, float> both;
  std::tuple<int, int, int> several;
  Nested nested;
  const int fixed = 3;
  std::string_view view;
};
template <class A, class B>
struct Templated {
  A first;
  B second;
};
struct NoDefault {
  explicit NoDefault(int);
  NoDefault(int, const std::string&);
};
struct OnlyCopied {
  OnlyCopied(const OnlyCopied&) = default;
};
struct FromAnything {
  FromAnything() = default;
  template <class T>
  FromAnything(T&&) {}
};
template <class Member>
struct With {
  int before;
  Member member;
  int after;
};
template <class Member>
struct Only {
  Member member;
};
// A member that is hard to count is counted behind another one, and alone.
template <class Member>
constexpr bool counted = field_count<With<Member>> == 3 && field_count<Only<Member>> == 1;
struct Long {
  int a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, c0, c1, c2, c3, c4, c5, c6, c7,
      c8, c9, d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, f0, f1, f2, f3, f4, f5,
      f6, f7, f8, f9, g0, g1, g2, g3;
};
struct TooLong {
  Long most;
  int a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, c0, c1, c2, c3, c4, c5, c6, c7,
      c8, c9, d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, f0, f1, f2, f3, f4, f5,
      f6, f7, f8, f9, g0, g1, g2, g3;
};
struct WithArray {
  int before;
  int array[3];
  int after;
};
struct WithArrayOfOne {
  int array[1];
};
struct Derived : One {
  int more = 0;
};
struct DerivedFromEmpty : None {
  int more = 0;
};
class NotAggregate {
 public:
  NotAggregate() {}
};

static_assert(field_count<None> == 0);
static_assert(field_count<One> == 1);
static_assert(field_count<Nested> == 3);
static_assert(field_count<Rich> == 15);
static_assert(field_count<Templated<std::vector<int>, One>> == 2);
static_assert(counted<NoDefault> && counted<OnlyCopied> && counted<FromAnything> && counted<Only<int>>);
static_assert(counted<std::atomic<int>> && counted<std::mutex> && counted<std::reference_wrapper<int>>);
static_assert(counted<int*> && counted<void (*)()> && counted<int None::*> &&
              counted<std::vector<std::unique_ptr<int>>>);
static_assert(field_count<Long> == 64);

static_assert(Reflectable<Rich> && Reflectable<None> && Reflectable<Long>);
static_assert(!Reflectable<TooLong>);
static_assert(!Reflectable<WithArray> && !Reflectable<WithArrayOfOne>);
static_assert(!Reflectable<With<Nested[2]>> && !Reflectable<Only<float[2][2]>> && !Reflectable<Only<One[1]>>);
static_assert(!Reflectable<With<std::string[2]>> && !Reflectable<Only<char[16]>> && !Reflectable<With<int&>>);
static_assert(!Reflectable<Derived> && !Reflectable<DerivedFromEmpty>);
static_assert(!Aggregate<NotAggregate> && !Aggregate<int> && !Aggregate<std::array<int, 2>> && !Aggregate<std::string>);

static_assert(field_names<None>.empty());
static_assert(field_names<One>[0] == "only");
static_assert(field_names<Rich>[1] == "name_1" && field_names<Rich>[14] == "view");
static_assert(field_names<Templated<std::vector<std::pair<int&, const void*>>*, One>>[1] == "second");
static_assert(field_names<Long>[0] == "a0" && field_names<Long>[63] == "g3");
static_assert(std::is_same_v<FieldTypes<Templated<int, const std::string>>, TypeList<int, std::string>>);

TEST(Fields, TieRefersToTheFields) {
  Templated<int, std::string> value{1, "a"};
  std::get<1>(tie_fields(value)) = "b";
  EXPECT_EQ(value.second, "b");
  const auto& constant = value;
  static_assert(std::is_same_v<decltype(tie_fields(constant)), std::tuple<const int&, const std::string&>>);
  EXPECT_EQ(std::get<0>(tie_fields(constant)), 1);
}

TEST(Fields, ForEachGivesNamesAndFieldsInOrder) {
  Templated<int, std::string> value{1, "a"};
  std::string text;
  for_each_field(value, [&](std::string_view name, auto& field) {
    if constexpr (std::is_same_v<decltype(field), std::string&>) field += "!";
    (text += name) += ' ';
  });
  EXPECT_EQ(text, "first second ");
  EXPECT_EQ(value.second, "a!");
}

TEST(Fields, AllOfThemWhenThereAreMany) {
  Long value{};
  value.g3 = 7;
  int sum = 0;
  for_each_field(value, [&](std::string_view, int& field) { sum += ++field; });
  EXPECT_EQ(sum, 71);
}

}  // namespace
}  // namespace lp

#pragma once
// A type that uses every codec, for the tests of bad input and for the fuzzer.

#include <flatbuffers/flatbuffers.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "lp/wire/codec.h"
#include "lp/wire/eigen.h"
#include "lp/wire/flatbuffers_table.h"

namespace lp::everything {

// The class that flatc makes of `table Row { label: string; values: [float]; next: Row; }`.
struct Row final : private flatbuffers::Table {
  enum : flatbuffers::voffset_t { kLabel = 4, kValues = 6, kNext = 8 };
  const flatbuffers::String* label() const { return GetPointer<const flatbuffers::String*>(kLabel); }
  const flatbuffers::Vector<float>* values() const { return GetPointer<const flatbuffers::Vector<float>*>(kValues); }
  const Row* next() const { return GetPointer<const Row*>(kNext); }
  bool Verify(flatbuffers::Verifier& verifier) const {
    return VerifyTableStart(verifier) && VerifyOffset(verifier, kLabel) && verifier.VerifyString(label()) &&
           VerifyOffset(verifier, kValues) && verifier.VerifyVector(values()) && VerifyOffset(verifier, kNext) &&
           verifier.VerifyTable(next()) && verifier.EndTable();
  }
};

// A chain of `rows` rows, each the `next` of the one before.
inline lp::Table<Row> make_row(const std::string& label, const std::vector<float>& values, int rows = 1) {
  flatbuffers::FlatBufferBuilder builder;
  flatbuffers::Offset<flatbuffers::Table> next;
  for (int i = 0; i < rows; ++i) {
    const auto label_at = builder.CreateString(label);
    const auto values_at = builder.CreateVector(values);
    const auto start = builder.StartTable();
    builder.AddOffset(Row::kLabel, label_at);
    builder.AddOffset(Row::kValues, values_at);
    if (i > 0) builder.AddOffset(Row::kNext, next);
    next = flatbuffers::Offset<flatbuffers::Table>(builder.EndTable(start));
  }
  builder.Finish(next);
  return lp::Table<Row>(builder);
}

enum class Color : std::uint8_t { red, green };
enum Plain : int { one = 1 };

struct Nothing {};

struct Point {
  float x;
  float y;
};

struct Tree {
  int value = 0;
  std::vector<Tree> children{};
  std::unique_ptr<Tree> left{};
  std::optional<std::vector<std::map<std::string, Tree>>> named{};
};

// A class with a Codec of its own.
class Interval {
 public:
  Interval() = default;
  Interval(double from, double to) : from_(from), to_(to) {}
  double from() const { return from_; }
  double to() const { return to_; }

 private:
  double from_ = 0;
  double to_ = 0;
};

struct Numbers {
  bool flag = true;
  char letter = 'a';
  std::int8_t i8 = -8;
  std::uint16_t u16 = 16;
  std::int32_t i32 = -32;
  std::uint64_t u64 = 64;
  float f32 = 0.5f;
  double f64 = -0.25;
  Color color = Color::green;
  Plain plain = one;
  Nothing nothing{};
  const int constant = 3;
};

struct Everything {
  Numbers numbers{};
  std::string text{};
  std::vector<bool> bits{};
  std::vector<float> floats{};
  std::vector<Point> points{};
  std::vector<std::string> texts{};
  std::vector<Nothing> nothings{};
  std::array<std::string, 2> two{};
  std::array<int, 3> three{};
  std::optional<Point> maybe{};
  std::variant<std::monostate, int, std::string, std::vector<Point>> either{};
  std::pair<int, std::string> pair{};
  std::tuple<> none{};
  std::tuple<int, std::string, Color> several{};
  std::map<std::string, std::vector<int>> map{};
  std::unordered_map<int, std::string> hashed{};
  std::set<int> set{};
  std::unordered_set<std::string> names{};
  std::multimap<int, int> many{};
  std::deque<std::string> line{};
  std::deque<bool> flags{};
  std::list<int> linked{};
  std::filesystem::path path{};
  std::chrono::milliseconds wait{};
  lp::Array<double> array{};
  lp::Array<Point> point_array{};
  lp::Array<bool> mask{};
  Interval interval{};
  Tree tree{};
  Eigen::MatrixXf matrix{};
  Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor> rows{};
  Eigen::Vector3d vector = Eigen::Vector3d::Zero();
  Eigen::Array<bool, 1, Eigen::Dynamic> bools{};
  Eigen::SparseMatrix<float> sparse{};
  lp::Table<Row> table{};
};

// A value with something in every field; the arrays have `size` items.
inline Everything sample(std::size_t size = 4) {
  Everything all;
  all.text = std::string(size, 'x');
  all.bits = {true, false, true};
  all.floats = std::vector<float>(size, 1.5f);
  all.points = {{1, 2}, {3, 4}};
  all.texts = {"a", "", "ccc"};
  all.nothings.resize(3);
  all.two = {"first", "second"};
  all.three = {1, 2, 3};
  all.maybe = Point{5, 6};
  all.either = std::vector<Point>{{7, 8}};
  all.pair = {1, "one"};
  all.several = {2, "two", Color::red};
  all.map = {{"a", {1, 2}}, {"b", {}}};
  all.hashed = {{1, "one"}};
  all.set = {3, 1, 2};
  all.names = {"n"};
  all.many = {{1, 1}, {1, 2}};
  all.line = {"first", "second"};
  all.flags = {true, false};
  all.linked = {3, 1, 2};
  all.path = "a/../b";
  all.wait = std::chrono::milliseconds(250);
  all.array = lp::Array<double>(size);
  all.point_array = lp::Array<Point>::copy_of(all.points);
  all.mask = lp::Array<bool>(size);
  all.interval = Interval(1, 2);
  all.tree.children.emplace_back().left = std::make_unique<Tree>();
  all.tree.named.emplace().emplace_back()["child"].value = 4;
  all.matrix = Eigen::MatrixXf::Ones(2, static_cast<Eigen::Index>(size));
  all.rows.setOnes(2, 3);
  all.vector = Eigen::Vector3d(1, 2, 3);
  all.bools.setConstant(3, true);
  all.sparse.resize(4, 5);
  all.sparse.insert(1, 1) = 11;
  all.sparse.insert(3, 1) = 31;
  all.sparse.insert(0, 4) = 4;
  all.table = make_row("row", {1, 2, 3}, 2);
  return all;
}

}  // namespace lp::everything

template <>
struct lp::Codec<lp::everything::Interval> {
  static void encode(Writer& writer, const everything::Interval& interval) {
    writer.value(interval.from());
    writer.value(interval.to());
  }
  static everything::Interval decode(Reader& reader) {
    const auto from = reader.value<double>();
    const auto to = reader.value<double>();
    if (!(from <= to)) reader.fail("an Interval ends before it begins");
    return {from, to};
  }
  using Parts = TypeList<double, double>;
};

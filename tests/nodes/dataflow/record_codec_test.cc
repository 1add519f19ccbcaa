#include "nodes/dataflow/record_codec.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace lp::dataflow {
namespace {

struct Plain {
  std::uint64_t number = 0;
  double real = 0;
  bool operator==(const Plain&) const = default;
};
struct Mixed {
  bool yes = false;
  std::string_view view{};
  std::vector<std::string> texts{};
  std::optional<std::pair<std::string, int>> pair{};
  std::tuple<Plain, bool> tuple{};
  std::map<std::string, int> other{};  // by lp's own codec
  bool operator==(const Mixed&) const = default;
};

template <class T>
void comes_back(const T& record) {
  RecordWriter out;
  write_record(out, record);
  write_record(out, record);
  const Array<std::byte> bytes = out.take(0);
  EXPECT_TRUE(out.empty());
  RecordBytes in(bytes);
  EXPECT_EQ(read_record<T>(in), record);
  EXPECT_EQ(read_record<T>(in), record);
  EXPECT_TRUE(in.empty());
  RecordBytes half(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size() / 2 - 1));
  EXPECT_THROW(read_record<T>(half), Error) << "it is cut off";
}

TEST(RecordCodecTest, RecordsComeBack) {
  comes_back(7);
  comes_back(std::string("a text\0with a zero", 18));
  comes_back(Plain{1, 0.5});
  comes_back(std::vector<Plain>{{1, 2}, {3, 4}});
  comes_back(Mixed{.yes = true,
                   .view = "a view",
                   .texts = {"", "one"},
                   .pair = {{"pair", -1}},
                   .tuple = {{5, 6}, true},
                   .other = {{"x", 1}, {"y", 2}}});
  comes_back(Mixed());
}

TEST(RecordCodecTest, PlainNumbersAreTheirBytes) {
  RecordWriter out;
  write_record(out, Plain{1, 2});
  EXPECT_EQ(out.size(), sizeof(Plain));
}

}  // namespace
}  // namespace lp::dataflow

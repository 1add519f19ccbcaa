#include "lp/base/names.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lp/base/hash.h"

namespace app {
struct Point {};
template <class T, int N>
struct Table {};
struct Server {
  void pull() const {}
  void push(std::vector<int>) noexcept {}
  virtual int size() { return 0; }
  virtual ~Server() = default;
  template <class T>
  T get() {
    return T{};
  }
  static void reset() {}
  enum class Mode { on };
};
void free_function() {}
}  // namespace app

namespace lp {
namespace {

static_assert(type_name<int> == "int");
static_assert(type_name<app::Point> == "app::Point");
static_assert(type_name<app::Server::Mode> == "app::Server::Mode");
static_assert(type_name<app::Table<app::Point, 3>> == "app::Table<app::Point, 3>");
static_assert(type_name<const app::Point*> == "const app::Point*" ||
              type_name<const app::Point*> == "const app::Point *");
static_assert(type_name<int[3]> == "int [3]" || type_name<int[3]> == "int[3]");

static_assert(method_name<&app::Server::pull> == "pull");
static_assert(method_name<&app::Server::push> == "push");
static_assert(method_name<&app::Server::size> == "size");
static_assert(method_name<&app::Server::reset> == "reset");
static_assert(method_name<&app::free_function> == "free_function");
static_assert(method_name<&app::Server::get<std::vector<std::string>>>.substr(0, 3) == "get");

static_assert(last_part("app::Server") == "Server");
static_assert(last_part("Server") == "Server");
static_assert(last_part("a::b::Table<x::Row, y::z>") == "Table<x::Row, y::z>");
static_assert(last_part("").empty());
static_assert(last_part("::").empty());

// These values are for ever: a change moves every stored key.
static_assert(mix64(0) == 0xe220a8397b1dcdafu);  // the first output of SplitMix64 with seed 0
static_assert(hash_combine(1, 2) == 0xe06dd043328bd285u);
static_assert(hash_combine(0, 1) != hash_combine(1, 0));

TEST(Names, TemplatesOfTwoTypesDiffer) { EXPECT_NE((type_name<app::Table<int, 1>>), (type_name<app::Table<int, 2>>)); }

}  // namespace
}  // namespace lp

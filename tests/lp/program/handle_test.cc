#include "lp/program/handle.h"

#include <gtest/gtest.h>

#include <string>

#include "lp/base/error.h"
#include "lp/program/program.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace handle_test {  // every compiler spells this name alike

class Readable {
 public:
  virtual ~Readable() = default;
  virtual int read() = 0;
  using Remote = Methods<&Readable::read>;
};
class Shelf final : public Readable {
 public:
  int read() override { return 7; }
  void write(int) {}
  using Remote = Methods<&Shelf::read, &Shelf::write>;
};
class Lamp {
 public:
  int light() { return 1; }
  using Remote = Methods<&Lamp::light>;
};
class Borrower {
 public:
  Borrower(Context&, Clients<Shelf>) {}
};

}  // namespace handle_test
namespace {

using namespace handle_test;

std::string said(auto f) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::failed);
    return error.what();
  }
  return "nothing";
}

Program library() {
  Program p("library");
  p.group<Shelf>({.name = "shelf", .replicas = 4});
  p.add<Lamp>({.name = "lamp"});
  return p;
}

TEST(Handle, IsFoundByNameWithItsSize) {
  const Program p = library();
  EXPECT_EQ(p.group_handle<Shelf>("shelf").size(), 4);
  EXPECT_EQ(p.group_handle<Readable>("shelf").size(), 4);
  EXPECT_EQ(p.handle<Lamp>("lamp").name(), "lamp");
  LocalRun run(p);
  EXPECT_EQ(run.client(p.handle<Readable>("shelf/3")).call<&Readable::read>(), 7);
  EXPECT_EQ(run.client(p.group_handle<Shelf>("shelf")).all<&Shelf::read>(), std::vector(4, 7));
}

TEST(Handle, OfAnotherNameIsNotFound) {
  const Program p = library();
  EXPECT_EQ(said([&] { p.handle<Lamp>("lmap"); }), "program 'library' has no node \"lmap\"; did you mean lamp?");
  EXPECT_EQ(said([&] { p.handle<Shelf>("shelf"); }),
            "program 'library' has no node \"shelf\": 'shelf' has 4 nodes, from 'shelf/0' on");
  EXPECT_EQ(said([&] { p.handle<Shelf>("shelf/4"); }),
            "program 'library' has no node \"shelf/4\": 'shelf' has 4 nodes, from 'shelf/0' on");
  EXPECT_EQ(said([&] { p.group_handle<Shelf>("shlf"); }),
            "program 'library' has no group \"shlf\"; did you mean shelf?");
  EXPECT_EQ(said([&] { p.group_handle<Lamp>("lamp"); }),
            "program 'library': \"lamp\" is one node, not a group: use Run::client");
}

TEST(Handle, OfAnotherClassIsNotFound) {
  const Program p = library();
  const std::string text =
      "node 'lamp' of program 'library' is a lp::handle_test::Lamp, which does not have all methods of "
      "lp::handle_test::Shelf";
  EXPECT_EQ(said([&] { p.handle<Shelf>("lamp"); }), text);
  EXPECT_NE(said([&] { p.group_handle<Lamp>("shelf"); }), "nothing");
}

TEST(Handle, MadeByHandIsRefusedFromOutside) {
  const Program p = library();
  LocalRun run(p);
  EXPECT_EQ(said([&] { run.client(GroupHandle<Shelf>("shelf", 2)); }),
            "a handle says that group 'shelf' has 2 nodes, and in program 'library' it has 4: use the handle that "
            "Program::group returned");
  EXPECT_NE(said([&] { run.client(GroupHandle<Shelf>("shelf", 5)); }), "nothing");
  EXPECT_NE(said([&] { run.client(GroupHandle<Lamp>("shelf", 4)); }), "nothing");
  EXPECT_NE(said([&] { run.client(Handle<Shelf>("lamp")); }), "nothing");
  EXPECT_NE(said([&] { run.client(Handle<Lamp>("candle")); }), "nothing");
}

TEST(Handle, MadeByHandFailsTheNodeThatGetsIt) {
  for (const GroupHandle<Shelf>& handle : {GroupHandle<Shelf>("shelf", 2), GroupHandle<Shelf>("light", 1)}) {
    Program p = library();
    p.group<Lamp>({.name = "light", .replicas = 1});
    p.add<Borrower>({.name = "reader"}, context, handle);
    LocalRun run(p, {}, LocalRun::kNothingHere);
    run.start_one("reader", 1);
    EXPECT_NE(std::string(run.failed().at("reader").what()).find(handle.name()), std::string::npos);
  }
}

}  // namespace
}  // namespace lp

// Published values, read over every path: in the same process, through shared memory, by TCP.

#include "lp/rpc/core/published.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "lp/base/enums.h"
#include "lp/base/error.h"
#include "lp/lp.h"
#include "lp/program/runtime.h"
#include "tests/lp/program/nobody.h"

namespace lp {
namespace {

using std::chrono::seconds;

constexpr std::size_t kSize = 1 << 18;

struct Weights {
  std::uint64_t step = 0;
  Array<float> values{};
};

// Everything is in this process.
Event version_held;
Event let_go;

class PublishedStore {
 public:
  std::uint64_t publish(float value) {
    Array<float> all = Array<float>::uninitialized(kSize);
    std::ranges::fill(all.edit(), value);
    return weights.publish({.step = static_cast<std::uint64_t>(value), .values = std::move(all)});
  }
  // Keeps the turn until the event.
  void hold() {
    version_held.set();
    let_go.wait(after(seconds(10)));
  }

  Published<Weights> weights{2};
  using Remote = Methods<&PublishedStore::publish, &PublishedStore::hold, &PublishedStore::weights>;
};

class Reader {
 public:
  explicit Reader(Client<PublishedStore> store) : store_(store) {}

  std::uint64_t keep() {
    kept_.push_back(store_.read<&PublishedStore::weights>());
    return kept_.back().number();
  }
  void drop() { kept_.clear(); }
  // The number of the first version that is torn or out of order; 0: none was.
  std::uint64_t watch(std::uint64_t last) {
    for (std::uint64_t seen = 0; seen < last;) {
      const Version<Weights> version = store_.read<&PublishedStore::weights>();
      const auto step = static_cast<float>(version->step);
      if (version.number() < seen || !std::ranges::all_of(version->values, [&](float v) { return v == step; })) {
        return version.number();
      }
      seen = version.number();
    }
    return 0;
  }
  // Whether two reads of one version give one object.
  bool same() {
    const Version<Weights> a = store_.read<&PublishedStore::weights>();
    const Version<Weights> b = store_.read<&PublishedStore::weights>();
    return a.number() == b.number() && &*a == &*b;
  }
  using Remote = Methods<&Reader::keep, &Reader::drop, deadline<&Reader::watch, 60_s>, &Reader::same>;

 private:
  Client<PublishedStore> store_;
  std::vector<Version<Weights>> kept_;
};

const Handle<PublishedStore> kStore("store");

Program make_program() {
  Program program("published");
  const auto store = program.add<PublishedStore>({.name = "store"});
  program.group<Reader>({.name = "reader", .replicas = 2}, store);
  return program;
}

// The store in one runtime and the readers in another, like two processes; or all in one.
class PublishedTest : public testing::TestWithParam<Path> {
 protected:
  PublishedTest() {
    start(store_, observer_, 0);
    if (GetParam() != Path::direct) {
      others_ = std::make_unique<Runtime>(program_, options(), nobody_);
      update(*others_, 0, store_);
    }
    for (NodeId reader : {1u, 2u}) {
      start(readers(), others_ == nullptr ? observer_ : nobody_, reader);
      if (others_ != nullptr) update(store_, reader, *others_);
    }
  }

  Runtime::Options options() const {
    Runtime::Options options{.run = {.name = "published"}};
    options.network = GetParam() != Path::direct;
    options.run.path = GetParam();
    options.run.token = "secret";
    return options;
  }
  static void start(Runtime& runtime, Nobody& observer, NodeId node) {
    runtime.start(node, 1);
    ASSERT_TRUE(observer.ready.wait(after(seconds(10))));
  }
  static void update(Runtime& runtime, NodeId node, const Runtime& where) {
    const std::vector<PeerState> peers{{.node = node, .incarnation = 1, .endpoint = where.endpoint()}};
    runtime.update(peers);
  }
  Runtime& readers() { return others_ == nullptr ? store_ : *others_; }
  Client<PublishedStore> store() { return store_.client(kStore); }
  Client<Reader> reader(int i) { return readers().client(Handle<Reader>("reader/" + std::to_string(i))); }

  const Program program_ = make_program();
  Nobody observer_;
  Nobody nobody_;
  Runtime store_{program_, options(), observer_};
  std::unique_ptr<Runtime> others_;
};

INSTANTIATE_TEST_SUITE_P(Paths, PublishedTest, testing::Values(Path::direct, Path::shm, Path::tcp),
                         [](const auto& path) { return std::string(enum_name(path.param)); });

TEST_P(PublishedTest, AReadAfterTheReplyOfThePublishingCallGetsThatVersion) {
  for (std::uint64_t number = 1; number <= 20; ++number) {
    EXPECT_EQ(store().call<&PublishedStore::publish>(static_cast<float>(number)), number);
    EXPECT_EQ(reader(0).call<&Reader::keep>(), number);
    reader(0).call<&Reader::drop>();
  }
}

TEST_P(PublishedTest, NothingIsTornWhileOthersAreRead) {
  store().call<&PublishedStore::publish>(1.0F);
  Future<std::uint64_t> a = reader(0).async<&Reader::watch>(60u);
  Future<std::uint64_t> b = reader(1).async<&Reader::watch>(60u);
  for (std::uint64_t published = 1; published < 60;) {
    try {
      published = store().call<&PublishedStore::publish>(static_cast<float>(published + 1));
    } catch (const Error& error) {  // the readers are behind
      ASSERT_EQ(error.kind(), ErrorKind::overloaded) << error.what();
    }
  }
  EXPECT_EQ(a.get(), 0u);
  EXPECT_EQ(b.get(), 0u);
}

TEST_P(PublishedTest, OneVersionIsReadOnce) {
  store().call<&PublishedStore::publish>(1.0F);
  EXPECT_TRUE(reader(0).call<&Reader::same>());
}

TEST_P(PublishedTest, AVersionTravelsOnceToAClientThatReadsItAgain) {
  store().call<&PublishedStore::publish>(1.0F);
  for (int i = 0; i < 5; ++i) {
    reader(0).call<&Reader::keep>();
    reader(0).call<&Reader::drop>();
  }
  if (GetParam() != Path::tcp) return;  // on other paths nothing is sent
  std::uint64_t received = 0;
  for (const CallStatistics& one : readers().calls()) {
    if (one.caller == "reader/0") received += one.bytes_received;
  }
  EXPECT_GT(received, kSize * sizeof(float));
  EXPECT_LT(received, 2 * kSize * sizeof(float));
}

TEST_P(PublishedTest, AReaderDoesNotWaitForTheTurn) {
  store().call<&PublishedStore::publish>(1.0F);
  Future<void> busy = store().async<&PublishedStore::hold>();
  ASSERT_TRUE(version_held.wait(after(seconds(10))));
  EXPECT_EQ(reader(0).call<&Reader::keep>(), 1u);
  EXPECT_FALSE(busy.ready());
  let_go.set();
  busy.get();
}

TEST_P(PublishedTest, BeforeTheFirstVersionAReadFails) {
  try {
    reader(0).call<&Reader::keep>();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::failed);
    EXPECT_NE(error.text().find("nothing has been published"), std::string::npos) << error.what();
  }
}

TEST_P(PublishedTest, WhoHoldsTooManyOldVersionsIsNamed) {
  if (GetParam() == Path::tcp) return;  // there a reader has copies of its own
  for (std::uint64_t number = 1; number <= 3; ++number) {
    store().call<&PublishedStore::publish>(static_cast<float>(number));
    reader(1).call<&Reader::keep>();
  }
  try {
    store().call<&PublishedStore::publish>(4.0F);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::overloaded);
    EXPECT_NE(error.text().find("reader/1"), std::string::npos) << error.what();
  }
  EXPECT_EQ(reader(0).call<&Reader::keep>(), 3u) << "the last version stays";
  reader(1).call<&Reader::drop>();
  // A reader in another process returns released memory a moment later.
  const Time end = after(seconds(10));
  std::uint64_t number = 0;
  while (number == 0 && now() < end) {
    try {
      number = store().call<&PublishedStore::publish>(4.0F);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::overloaded) << error.what();
    }
  }
  EXPECT_EQ(number, 4u);
}

}  // namespace
}  // namespace lp

#include "programs/data/host_examples.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <deque>
#include <fstream>
#include <string>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/scheduler.h"
#include "lp/base/secret.h"
#include "programs/train.h"

namespace lp {
namespace {

Examples some_examples() {
  Examples out;
  out.data = parse_csv({"1,2,0\n3,4,1\n", "f"});
  return out;
}

TEST(HostExamples, AreReadByOneOfThoseThatTakeThemAtATime) {
  const std::string key = secret_text(16);
  std::atomic<int> reads = 0;
  std::atomic<int> taken = 0;
  Event reading;
  Event go;
  std::deque<HostExamples> hosts(4);
  {
    std::vector<Thread> threads;
    for (HostExamples& host : hosts) {
      threads.push_back(spawn("taker", [&] {
        const Examples examples = host.take(key, [&] {
          ++reads;
          reading.set();
          go.wait();
          return some_examples();
        });
        if (examples.data.features == some_examples().data.features) ++taken;
      }));
    }
    EXPECT_TRUE(reading.wait(after(std::chrono::seconds(20))));
    go.set();
  }
  EXPECT_EQ(reads, 1);
  EXPECT_EQ(taken, 4);
  int more = 0;
  HostExamples late;
  late.take(key, [&more] { return ++more, some_examples(); });
  EXPECT_EQ(more, 0);
  hosts.clear();
  late.take(key, [&more] { return ++more, some_examples(); });
  EXPECT_EQ(more, 1) << "nobody had them any more";
}

TEST(HostExamples, AreReadByTheNextOneWhenTheReaderFails) {
  const std::string key = secret_text(16);
  HostExamples first;
  EXPECT_THROW(first.take(key, []() -> Examples { throw Error(ErrorKind::failed, "no such file"); }), Error);
  HostExamples next;
  EXPECT_EQ(next.take(key, some_examples).data.examples(), 2);
  EXPECT_EQ(first.take(key, []() -> Examples { throw Error(ErrorKind::failed, "no such file"); }).data.examples(), 2);
}

TEST(HostExamples, OfAnotherProcessAreTakenAndGoWithIt) {
  const std::string key = secret_text(16);
  int ready[2];
  int end[2];
  ASSERT_EQ(pipe(ready) + pipe(end), 0);
  const pid_t child = fork();
  if (child == 0) {
    HostExamples host;
    host.take(key, some_examples);
    char byte = 0;
    static_cast<void>(!write(ready[1], &byte, 1));
    static_cast<void>(!read(end[0], &byte, 1));
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  int reads = 0;
  const auto read_here = [&reads] { return ++reads, some_examples(); };
  HostExamples host;
  EXPECT_EQ(host.take(key, read_here).data.examples(), 2);
  EXPECT_EQ(reads, 0);
  ASSERT_EQ(write(end[1], &byte, 1), 1);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(host.take(key, read_here).data.examples(), 2);
  EXPECT_EQ(reads, 1);
  for (const int fd : {ready[0], ready[1], end[0], end[1]}) close(fd);
}

// Where the launcher's memory is not to be seen, the nodes of a host read the file once.
TEST(HostExamples, OfATrainingAreReadOnceOnAHost) {
  const std::string file = testing::TempDir() + "host_examples.csv";
  std::ofstream(file) << "1,2,0\n3,4,1\n5,6,1\n7,8,0\n9,8,2\n";
  TrainConfig config;
  config.data = file;
  const SharedExamples shared = prepare_training(config);
  config.found.path = "/proc/1/fd/9999";  // as on another host
  HostFiles one;
  EXPECT_EQ(data_of(config, 1, &one).train.examples(), 4);
  EXPECT_EQ(std::remove(file.c_str()), 0);
  HostFiles other;
  EXPECT_EQ(data_of(config, 1, &other).train.examples(), 4);
  const Judge judge = judge_of(config)(1);
  EXPECT_EQ(judge.values(Eigen::VectorXf::Zero(judge.size)).size(), 2U);
}

// The same for the first model; a server needs no data file for it.
TEST(HostExamples, IncludeTheFirstModelWhichIsReadOnceOnAHost) {
  const std::string data = testing::TempDir() + "host_first.csv";
  const std::string first = testing::TempDir() + "host_first.lpm";
  std::ofstream(data) << "1,2,0\n3,4,1\n5,6,1\n7,8,0\n9,8,2\n";
  const auto write_first = [&first](float value) {
    KeptModel model{.units = {2, 64, 3}};
    model.parameters = Eigen::VectorXf::Constant(387, value);
    write_model(model, first);
  };
  write_first(0.5F);
  TrainConfig config;
  config.data = data;
  config.init = first;
  const SharedExamples shared = prepare_training(config);
  config.found.path = "/proc/1/fd/9999";  // as on another host
  EXPECT_EQ(std::remove(data.c_str()), 0);
  {
    HostFiles server;
    EXPECT_EQ(model_of(config, &server)->initialize(0)(0), 0.5F);
    write_first(0.25F);
    HostFiles worker;
    EXPECT_EQ(model_of(config, &worker)->initialize(0)(0), 0.5F);
  }
  try {
    HostFiles late;
    model_of(config, &late);
    FAIL() << "it began from another model";
  } catch (const Error& error) {
    EXPECT_EQ(error.text(), first + ": differs from the file on the host where the program was launched");
  }
}

}  // namespace
}  // namespace lp

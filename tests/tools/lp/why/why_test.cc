// lp why names the cause of each trouble that situations.cc gets into; lp stack shows what its threads do.

#include <signal.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/json_value.h"
#include "tests/launchers/remote/ssh_hosts.h"
#include "tests/tools/lp/lp_fixture.h"
#include "tools/lp/why/diagnosis.h"

namespace lp::test {
namespace {

using tool::Diagnosis;
using Kind = Diagnosis::Kind;

constexpr auto kPatience = std::chrono::seconds(100);

class WhyTest : public LpTest {
 protected:
  struct Answer {
    std::vector<Diagnosis> diagnoses{};
  };

  static Subprocess start(const std::string& situation, const std::string& launch = "processes",
                          std::vector<std::string> flags = {}) {
    flags.push_back("--situation=" + situation);
    flags.push_back("--launch=" + launch);
    return Subprocess(std::move(flags), SITUATIONS);
  }

  static std::vector<Diagnosis> diagnoses(const std::string& flags = "--for=0.3") {
    const Ended why = lp("why last --json " + flags + " 2>/dev/null");
    return why.code == 0 ? from_json<Answer>(why.output).diagnoses : std::vector<Diagnosis>();
  }

  // Looks until the first diagnosis is of this kind, and so many nodes wait because of it; an empty one if that never
  // comes.
  static Diagnosis wait_for(Kind kind, std::size_t waiting = 0, const std::string& flags = "--for=0.3") {
    std::string seen;
    for (const Time end = after(kPatience); now() < end;) {
      const std::vector<Diagnosis> all = diagnoses(flags);
      if (!all.empty() && all.front().kind == kind && all.front().waiting >= waiting) return all.front();
      if (!all.empty()) seen = all.front().text;
    }
    ADD_FAILURE() << "no " << enum_name(kind) << ", but: " << seen << "\n" << lp("why last").output;
    return {};
  }

  // The process that is the parent of the first node's.
  int agent_of_run() const {
    const RunStatus status =
        from_json<RunStatus>(contents(std::filesystem::directory_iterator(runs())->path() / "status.json"));
    std::ifstream stat("/proc/" + std::to_string(status.nodes.front().pid) + "/stat");
    std::string word;
    for (int i = 0; i < 4; ++i) stat >> word;
    return std::stoi(word);
  }

  static void stop(Subprocess& program) {
    EXPECT_EQ(lp("stop last --force").code, 0);
    program.wait();
  }

  // Waits for the only diagnosis of a situation, and ends the program.
  static Diagnosis diagnosis_of(const std::string& situation, Kind kind, std::size_t waiting,
                                const std::vector<std::string>& flags = {}, const std::string& launch = "processes") {
    Subprocess program = start(situation, launch, flags);
    Diagnosis found = wait_for(kind, waiting);
    stop(program);
    return found;
  }

  // A FIFO into which nobody writes.
  std::string disk() const {
    const std::string path = (directory_.path() / "disk").string();
    EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
    return path;
  }

  const Directory directory_;
};

#define EXPECT_SAID(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_F(WhyTest, NothingIsWrongWithARunThatWaitsToBeStopped) {
  Subprocess program = start("healthy");
  Ended why;
  for (const Time end = after(kPatience); now() < end && !has(why.output, "waits to be stopped");) {
    why = lp("why last --for=0.2");
  }
  EXPECT_TRUE(has(why.output, "waits to be stopped")) << why.output;
  EXPECT_TRUE(has(why.output, "Nothing is stuck.")) << why.output;
  EXPECT_TRUE(has(lp("why last worker/1 --for=0").output, "Nothing that concerns it is stuck."));
  EXPECT_FALSE(has(lp("why last worker/1 --for=0").output, "worker/0"));
  EXPECT_EQ(lp("why last nobody").code, 3);
  stop(program);
  EXPECT_EQ(lp("why last").code, 4);
}

TEST_F(WhyTest, ADeadlockByFutures) {
  for (const char* launch : {"processes", "threads"}) {
    const Diagnosis found = diagnosis_of("deadlock", Kind::deadlock, 2, {}, launch);
    for (const char* step :
         {"a.run() waits for b.value()", "b.run() waits for c.value()", "c.run() waits for a.value()"})
      EXPECT_SAID(found.text, step);
  }
}

TEST_F(WhyTest, AStraggler) {
  Subprocess program = start("straggler");
  const Diagnosis found = wait_for(Kind::straggler, 0, "--for=1");
  EXPECT_EQ(found.node, "worker/1");
  EXPECT_SAID(found.text, "times as long as the other 3");
  stop(program);
}

TEST_F(WhyTest, AStragglerByItsProcessor) {
  for (const auto& [situation, node] : {std::pair("computing", "worker/1"), std::pair("shards", "shard/1")}) {
    Subprocess program = start(situation);
    const Diagnosis found = wait_for(Kind::straggler, 0, "--for=1");
    EXPECT_EQ(found.node, node);
    EXPECT_SAID(found.text, "times as long as the other 3");
    stop(program);
  }
}

TEST_F(WhyTest, ASaturatedServer) {
  Subprocess program = start("saturated");
  const Diagnosis found = wait_for(Kind::saturated, 0, "--for=1");
  EXPECT_EQ(found.node, "server");
  EXPECT_SAID(found.text, "calls wait for it");
  stop(program);
}

TEST_F(WhyTest, AServerWithoutAProcessor) {
  Subprocess program = start("starved");
  std::vector<Diagnosis> all;
  const auto is_starved = [](const Diagnosis& one) { return one.kind == Kind::starved; };
  for (const Time end = after(kPatience); now() < end && std::none_of(all.begin(), all.end(), is_starved);) {
    all = diagnoses("--for=1");
  }
  const auto found = std::find_if(all.begin(), all.end(), is_starved);
  ASSERT_NE(found, all.end());
  EXPECT_EQ(found->node, "server");
  EXPECT_SAID(found->text, "server lacks a processor of this host");
  stop(program);
}

TEST_F(WhyTest, ANodeThatIsStopped) {
  const Diagnosis found = diagnosis_of("stopped", Kind::stopped, 2);
  EXPECT_EQ(found.node, "server");
  EXPECT_SAID(found.text, "SIGSTOP");
}

TEST_F(WhyTest, AHandlerThatNeverReturns) {
  for (const char* launch : {"processes", "threads"}) {
    Subprocess program = start("handler", launch);
    const Diagnosis found = wait_for(Kind::handler, 2);
    EXPECT_EQ(found.node, "server");
    EXPECT_SAID(found.text, "server.hang(), called by worker/");
    if (std::string(launch) == "threads") {
      program.kill(SIGKILL);  // its thread would not end
      program.wait();
    } else {
      stop(program);
    }
  }
}

TEST_F(WhyTest, ABarrierThatLacksAMember) {
  for (const char* launch : {"processes", "threads"}) {
    const Diagnosis found = diagnosis_of("barrier", Kind::missing, 2, {}, launch);
    EXPECT_SAID(found.text, "barrier.gather()");
    EXPECT_SAID(found.text, "worker/2 has not called: worker/2.run() waits to be stopped");
  }
}

TEST_F(WhyTest, AStreamThatIsFull) {
  const Diagnosis found = diagnosis_of("stream", Kind::reader, 1);
  EXPECT_SAID(found.text, "the stream server.count() is full, because worker does not take its items");
}

TEST_F(WhyTest, ANodeThatWaitsForARestart) {
  const Diagnosis found = diagnosis_of("restart", Kind::down, 1, {"--disk=" + disk()});
  EXPECT_EQ(found.node, "server");
  EXPECT_SAID(found.text, "restarts, as incarnation 2");
  EXPECT_SAID(found.text, "SIGKILL");
}

TEST_F(WhyTest, AReaderThatPinsVersions) {
  const Diagnosis found = diagnosis_of("versions", Kind::versions, 0);
  EXPECT_EQ(found.node, "server");
  EXPECT_SAID(found.text, "worker has held version 1");
}

TEST_F(WhyTest, ADiskThatHangs) {
  const std::string path = disk();
  const Diagnosis found = diagnosis_of("disk", Kind::blocked, 2, {"--disk=" + path});
  EXPECT_EQ(found.node, "server");
  EXPECT_SAID(found.text, "server.save()");
  EXPECT_SAID(found.text, "in read() of " + path);
}

TEST_F(WhyTest, LocksInOppositeOrder) {
  const Diagnosis found = diagnosis_of("locks", Kind::deadlock, 2);
  EXPECT_SAID(found.text, "with locks in opposite order");
  EXPECT_SAID(found.text, "server.forward()");
  EXPECT_SAID(found.text, "server.backward()");
}

TEST_F(WhyTest, AHostThatIsCutOff) {
  const SshHosts hosts;
  Subprocess program = start("handler", "ssh", {hosts.ssh(), SshHosts::hosts("h1:1,h2:2"), "--grace=60"});
  wait_for(Kind::handler, 2);
  const int agent = agent_of_run();
  kill(agent, SIGSTOP);
  const Diagnosis found = wait_for(Kind::cut_off, 2);
  kill(agent, SIGCONT);
  EXPECT_EQ(found.node, "server");
  EXPECT_SAID(found.text, "its host h1");
  stop(program);
}

TEST_F(WhyTest, AnAgentThatIsStopped) {
  Subprocess program = start("handler");
  wait_for(Kind::handler, 2);
  const int agent = agent_of_run();
  kill(agent, SIGSTOP);
  const Diagnosis found = wait_for(Kind::stopped);
  kill(agent, SIGCONT);
  EXPECT_EQ(found.node, "server");
  EXPECT_SAID(found.text, "its agent, process " + std::to_string(agent) + " of this host, is stopped");
  stop(program);
}

TEST_F(WhyTest, StacksOfANode) {
  for (const char* launch : {"processes", "threads"}) {
    Subprocess program = start("handler", launch);
    wait_for(Kind::handler);
    const Ended stack = lp("stack last server");
    EXPECT_EQ(stack.code, 0) << stack.output;
    EXPECT_SAID(stack.output, "thread ");
    EXPECT_SAID(stack.output, "pool (");
    EXPECT_SAID(stack.output, "Server::hang");
    EXPECT_EQ(lp("stack last worker").code, 2);
    program.kill(SIGKILL);
    program.wait();
  }
}

}  // namespace
}  // namespace lp::test

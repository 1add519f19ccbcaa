#include "lp/program/plan.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "lp/base/error.h"
#include "lp/program/program.h"

namespace lp {
namespace plan_test {  // every compiler spells this name alike

class Server {
 public:
  int pull() const { return 0; }
  void save(Checkpoint&) const {}
  void load(const Checkpoint&) {}
  using Remote = Methods<&Server::pull>;
};

class Worker {
 public:
  explicit Worker(Clients<Server>) {}
  void run() {}
  int ping() const { return 0; }
  using Remote = Methods<&Worker::ping>;
};

class Peer {
 public:
  explicit Peer(Clients<Peer>) {}
  void run() {}
  int ping() const { return 0; }
  using Remote = Methods<&Peer::ping>;
};

class Caller {
 public:
  explicit Caller(Client<Server>) {}
  void run() {}
};

namespace {

Program digits() {
  Program p("digits");
  const auto servers = p.group<Server>({.name = "server", .replicas = 2});
  const auto workers = p.group<Worker>({.name = "worker",
                                        .replicas = 3,
                                        .cpus = 0.5,
                                        .memory = 512 << 20,
                                        .on_failure = restart(3),
                                        .ends_program = true},
                                       servers);
  p.function(
      {.name = "report"}, [](Client<Server>, Client<Worker>) {}, servers[0], workers[1]);
  p.colocate(servers[0], workers[0]);
  return p;
}

// The lines of make_plan's error, without the first.
std::vector<std::string> problems(const Program& program, const PlanOptions& options = {}) {
  try {
    make_plan(program, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::failed);
    std::vector<std::string> lines;
    std::istringstream text(error.text());
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    EXPECT_EQ(lines.front(), "program '" + program.name() + "' cannot start:");
    lines.erase(lines.begin());
    for (std::string& line : lines) line.erase(0, 4);  // "  - "
    return lines;
  }
  return {};
}
std::string problem(const Program& program, const PlanOptions& options = {}) {
  const auto all = problems(program, options);
  EXPECT_EQ(all.size(), 1u) << testing::PrintToString(all);
  return all.empty() ? "" : all.front();
}

TEST(Plan, SaysWhatTheProgramSays) {
  const Program program = digits();
  const Plan plan = make_plan(program);
  EXPECT_EQ(plan.program, "digits");
  EXPECT_EQ(plan.fingerprint, program.fingerprint());
  EXPECT_EQ(plan.processes, 5u);
  ASSERT_EQ(plan.groups.size(), 3u);
  EXPECT_EQ(plan.groups[1].options.name, "worker");
  EXPECT_EQ(plan.groups[1].size, 3);
  EXPECT_EQ(plan.groups[1].first, 2u);
  EXPECT_TRUE(plan.groups[1].active);
  EXPECT_FALSE(plan.groups[1].saves);
  EXPECT_FALSE(plan.groups[0].active);
  EXPECT_TRUE(plan.groups[0].saves);
  ASSERT_EQ(plan.nodes.size(), 6u);
  EXPECT_EQ(plan.nodes[3].name, "worker/1");
  EXPECT_EQ(plan.nodes[3].index, 1);
  EXPECT_EQ(plan.nodes[3].calls, (std::vector<NodeId>{0, 1}));
  EXPECT_EQ(plan.nodes[5].name, "report");
  EXPECT_EQ(plan.nodes[5].calls, (std::vector<NodeId>{0, 3}));
  std::vector<std::size_t> processes;
  for (const PlanNode& node : plan.nodes) processes.push_back(node.process);
  EXPECT_EQ(processes, (std::vector<std::size_t>{0, 1, 0, 2, 3, 4}));
}

TEST(Plan, APlacementReplacesTheOptions) {
  PlanOptions options;
  const Program program = digits();
  for (const GroupSpec& group : program.groups()) options.groups.push_back(group.options);
  options.groups[1].cpus = 2;
  EXPECT_EQ(make_plan(program, options).groups[1].options.cpus, 2);
  options.groups[1].replicas = 7;
  EXPECT_EQ(problem(program, options),
            "group 'worker' is group 'worker' with 3 replicas in the program: a placement cannot change the name or "
            "the replicas");
  options.groups.pop_back();
  EXPECT_EQ(problem(program, options), "it has 3 groups, but options are given for 2");
}

TEST(Plan, ADanglingHandleIsNamed) {
  Program other("other");
  const auto stranger = other.add<Server>({.name = "servr"});
  const auto many = other.group<Server>({.name = "table", .replicas = 9});
  Program p("p");
  const auto servers = p.group<Server>({.name = "server", .replicas = 2});
  const auto table = p.add<Server>({.name = "table"});
  p.add<Caller>({.name = "a"}, stranger);
  p.add<Worker>({.name = "b"}, many);
  p.group<Caller>({.name = "c", .replicas = 100}, servers[2]);
  EXPECT_EQ(problems(p),
            (std::vector<std::string>{
                "'a' has a handle of 'servr', which this program does not have; did you mean server?",
                "'b' has a handle of 'table/0' and of 8 more like it, which this program does not have: 'table' is one "
                "node",
                "'c' has a handle of 'server/2', which this program does not have: 'server' has 2 nodes, from "
                "'server/0' on"}));
}

TEST(Plan, EverythingThatIsWrongIsSaidAtOnce) {
  Program p("../p");
  p.declare<Server>({.name = "a b"});
  p.group<Server>({.name = "none", .replicas = 0});
  p.group<Server>({.name = "fewer", .replicas = -3});
  p.add<Server>({.name = "one", .replicas = 4});
  EXPECT_EQ(
      problems(p),
      (std::vector<std::string>{
          "the program is named \"../p\": a name has letters, digits, '_', '-' and '.', and does not begin with '-' or "
          "'.'",
          "a group is named \"a b\": a name has letters, digits, '_', '-' and '.', and does not begin with '-' or '.'",
          "'a b' is declared but never defined: call Program::define",
          "group 'none' has 0 replicas, but needs at least 1", "group 'fewer' has -3 replicas, but needs at least 1",
          "group 'one' is one node, but its options have 4 replicas: use Program::group"}));
}

TEST(Plan, TooManyNodesAreRefusedAtOnce) {
  const auto refusal = [](Program& p, const Replicas& replicas) -> std::string {
    try {
      p.function({.name = "many" + std::to_string(p.groups().size()), .replicas = replicas}, [] {});
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  };
  Program p("p");
  for (const int replicas : {65'537, 2'000'000'000}) {
    EXPECT_EQ(refusal(p, replicas), "program 'p': group 'many0' has " + std::to_string(replicas) +
                                        " replicas, but a group can have 65536 at most: give it fewer replicas");
  }
  EXPECT_EQ(
      refusal(p, {2, 100'000}),
      "program 'p': group 'many0' has 2..100000 replicas, but a group can have 65536 at most: give it fewer replicas");
  for (int i = 0; i < 15; ++i) EXPECT_EQ(refusal(p, 65'536), "none");
  EXPECT_EQ(refusal(p, 16'960), "none");
  EXPECT_EQ(refusal(p, 1),
            "program 'p' has 1000001 nodes with group 'many16', but a program can have 1000000 at most: give its "
            "groups fewer replicas");
}

TEST(Plan, AnElasticGroupHasTheMostAndNeedsTheLeast) {
  Program p("p");
  const auto workers = p.group<Server>({.name = "server", .replicas = 2});
  p.group<Worker>({.name = "worker", .replicas = {2, 8}, .gpus = 1}, workers);
  const Plan plan = make_plan(p, {.groups = {}, .host = {.cpus = {}, .gpus = 2, .memory = {}}});
  EXPECT_EQ(plan.groups[1].size, 8);
  EXPECT_NE(to_text(plan).find("  worker x 2..8 ("), std::string::npos) << to_text(plan);
  EXPECT_NE(to_json(plan).find(R"("replicas":8,"least":2,)"), std::string::npos) << to_json(plan);
  EXPECT_EQ(problem(p, {.groups = {}, .host = {.cpus = {}, .gpus = 1, .memory = {}}}),
            "the host has 1 gpus, but the program needs 2 (worker: 2 x 1)");
}

TEST(Plan, RangesOfReplicasThatMakeNoSenseAreNamed) {
  Program p("p");
  p.function({.name = "back", .replicas = {8, 2}}, [] {});
  p.function({.name = "none", .replicas = {0, 3}}, [] {});
  EXPECT_EQ(problems(p),
            (std::vector<std::string>{
                "group 'back' has 8..2 replicas, but needs at least 1, and the least number before the most",
                "group 'none' has 0..3 replicas, but needs at least 1, and the least number before the most"}));
}

TEST(Plan, NamesAreNamesOfFiles) {
  const auto named = [](const std::string& name) {
    Program p("p");
    p.function({.name = name}, [] {});
    return problems(p).size();
  };
  for (const char* name : {"a", "worker-1", "A.b_c", "9", "_"}) EXPECT_EQ(named(name), 0u) << name;
  for (const char* name : {"", "a/b", "a b", ".", "..", ".a", "-a", "a\n", "ä", "a:b"})
    EXPECT_EQ(named(name), 1u) << name;
  EXPECT_EQ(named(std::string(64, 'a')), 0u);
  EXPECT_EQ(named(std::string(65, 'a')), 1u);
}

TEST(Plan, OptionsThatMakeNoSenseAreNamed) {
  Program p("p");
  p.group<Server>({.name = "s",
                   .cpus = std::nan(""),
                   .gpus = -1,
                   .environment = {{"A=B", "x"}, {"", "y"}},
                   .on_failure = restart(-1, std::chrono::seconds(-1)),
                   .ends_program = true,
                   .heartbeat = std::chrono::seconds(-1)});
  p.function({.name = "f"}, [] {});
  const auto all = problems(p);
  ASSERT_EQ(all.size(), 8u);
  EXPECT_EQ(all[0], "group 's' has cpus below 0");
  EXPECT_EQ(all[5], "group 's' sets the environment variable \"\", which is not a valid name");
  EXPECT_EQ(all[7], "group 's' has ends_program, but its nodes never finish: lp::plan_test::Server has no run()");
}

TEST(Plan, AProgramThatNothingWouldEndIsRefused) {
  EXPECT_EQ(problem(Program("p")), "the program has no node: add one with Program::add or Program::group");
  Program p("p");
  p.add<Server>({.name = "server"});
  EXPECT_EQ(problem(p),
            "no node of the program has run(), so it would never end: give a node a run(), or allow that with --serve");
  EXPECT_EQ(make_plan(p, {.groups = {}, .host = {}, .serve_forever = true}).nodes.size(), 1u);
}

TEST(Plan, ANodeMayNotCallItselfButAPeerItsGroup) {
  Program p("p");
  const auto peers = p.declare_group<Peer>({.name = "peer", .replicas = 3});
  p.define(peers, peers);
  const auto self = p.declare<Worker>({.name = "self"});
  EXPECT_EQ(problem(p), "'self' is declared but never defined: call Program::define");
  Program q("q");
  const auto loop = q.declare<Caller>({.name = "loop"});
  q.define(loop, Handle<Server>("loop"));
  EXPECT_EQ(
      problem(q),
      "node 'loop' has a handle of itself, and a node that calls itself waits for ever: call the method directly");
}

TEST(Plan, WhatSharesAProcessAgreesOnItsEnvironment) {
  Program p("p");
  const auto a = p.group<Server>({.name = "a", .replicas = 2, .environment = {{"X", "1"}, {"Y", "1"}}});
  const auto b = p.group<Server>({.name = "b", .replicas = 2, .environment = {{"X", "2"}, {"Y", "1"}}});
  p.function({.name = "f"}, [] {});
  EXPECT_TRUE(problems(p).empty());
  p.colocate(a, b);
  EXPECT_EQ(problem(p), "'a' and 'b' share a process, but differ in the environment variable \"X\"");
}

TEST(Plan, WhatTheHostLacksIsNamed) {
  Program p("p");
  p.group<Server>({.name = "server", .replicas = 2, .cpus = 1, .memory = std::uint64_t{3} << 30});
  p.function({.name = "f", .cpus = 0.5, .gpus = 1}, [] {});
  const auto on = [&](HostResources host) { return problems(p, {.groups = {}, .host = host}); };
  EXPECT_TRUE(on({}).empty());
  EXPECT_TRUE(on({.cpus = 2.5, .gpus = 1, .memory = std::uint64_t{6} << 30}).empty());
  EXPECT_EQ(on({.cpus = 2, .gpus = 0, .memory = (std::uint64_t{6} << 30) - 1}),
            (std::vector<std::string>{"the host has 2 cpus, but the program needs 2.5 (server: 2 x 1, f: 1 x 0.5)",
                                      "the host has 0 gpus, but the program needs 1 (f: 1 x 1)",
                                      "the host has 6G of memory, but the program needs 6G (server: 2 x 3G)"}));
}

TEST(Plan, APartOfAGpuIsLessThanOneAndPartsAreSummed) {
  Program p("p");
  p.group<Server>({.name = "a", .replicas = 4, .gpus = 0.5});
  p.group<Server>({.name = "b", .replicas = 1, .gpus = 1.5});
  p.function({.name = "f"}, [] {});
  const auto on = [&](int gpus) { return problems(p, {.groups = {}, .host = {.gpus = gpus}}); };
  const std::string wrong = "group 'b' has gpus 1.5: give a whole number, or less than 1 for a part of one GPU";
  EXPECT_EQ(on(4), std::vector<std::string>{wrong});
  EXPECT_EQ(on(3), (std::vector<std::string>{
                       wrong, "the host has 3 gpus, but the program needs 3.5 (a: 4 x 0.5, b: 1 x 1.5)"}));

  Program q("q");
  const auto c = q.group<Server>({.name = "c", .replicas = 3, .gpus = 0.5});
  q.function({.name = "g", .gpus = 1}, [] {});
  q.colocate(c[0], c[1]);
  EXPECT_TRUE(problems(q).empty());  // the two have a whole one together
  EXPECT_NE(to_text(make_plan(q)).find("each needs 0.5 gpus"), std::string::npos);
  EXPECT_NE(to_json(make_plan(q)).find(R"("gpus":0.5,)"), std::string::npos);
  q.colocate(c);
  EXPECT_EQ(
      problem(q),
      "the process of 'c/0' needs 1.5 gpus for all of its nodes: it can have a whole number, or a part of one GPU");
}

TEST(Plan, SaysWhereNodesComputeIfTheirGroupDoes) {
  Program p("p");
  p.function({.name = "f", .device = "cuda"}, [] {});
  p.function({.name = "g"}, [] {});
  const std::string text = to_text(make_plan(p));
  EXPECT_NE(text.find("runs; device cuda; a failure"), std::string::npos) << text;
  EXPECT_NE(text.find("runs; a failure"), std::string::npos) << text;
  const std::string json = to_json(make_plan(p));
  EXPECT_EQ(json.find(R"("device":"cuda")"), json.rfind(R"("device")")) << json;
  EXPECT_NE(json.find(R"("device":"cuda")"), std::string::npos) << json;
}

TEST(Plan, Text) {
  EXPECT_EQ(to_text(make_plan(digits())).substr(0, 51), "digits: 6 nodes in 3 groups, at most 5 processes, f");
  std::string text = to_text(make_plan(digits()));
  text.erase(0, text.find('\n'));
  EXPECT_EQ(text, R"(

  server x 2 (lp::plan_test::Server)
    serves; saved in checkpoints; a failure stops the program

  worker x 3 (lp::plan_test::Worker)
    runs; its end ends the program; restarted up to 3 times after a failure
    each needs 0.5 cpus, 512M of memory
    calls server

  report (function)
    runs; a failure stops the program
    calls server/0, worker/1

  in one process: server/0, worker/0
)");
}

TEST(Plan, TextStaysWithin100Columns) {
  Program p("p");
  const auto servers = p.group<Server>({.name = std::string(64, 's'), .replicas = 40});
  const auto workers = p.group<Worker>({.name = std::string(64, 'w'),
                                        .replicas = 40,
                                        .environment = {{"LONG", std::string(300, 'x')}, {"SHORT", "1"}},
                                        .on_failure = restart(1000),
                                        .ends_program = true,
                                        .heartbeat = std::chrono::milliseconds(1500)},
                                       servers);
  for (int i = 0; i < 40; ++i) p.colocate(servers[i], workers[i]);
  std::istringstream text(to_text(make_plan(p)));
  for (std::string line; std::getline(text, line);) {
    EXPECT_LE(line.size(), 100u) << line;
    EXPECT_EQ(line.find_last_not_of(' ') + 1, line.size()) << line;
  }
}

TEST(Plan, Json) {
  Program p("p");
  const auto server = p.add<Server>({.name = "server"});
  p.add<Caller>({.name = "caller", .environment = {{"A", "\""}}, .on_failure = restart(2)}, server);
  const Plan plan = make_plan(p);
  std::string json = to_json(plan);
  EXPECT_EQ(json.find('\n'), std::string::npos);
  const auto at = json.find("\"fingerprint\":\"") + 15;
  json.replace(at, 16, "F");
  EXPECT_EQ(json, R"({"program":"p","fingerprint":"F","processes":2,"groups":[)"
                  R"({"name":"server","type":"lp::plan_test::Server","replicas":1,"active":false,"saves":true,)"
                  R"("ends_program":false,"cpus":0,"gpus":0,"memory":0,"environment":{},"heartbeat":0,)"
                  R"("on_failure":{"action":"stop"}},)"
                  R"({"name":"caller","type":"lp::plan_test::Caller","replicas":1,"active":true,"saves":false,)"
                  R"("ends_program":false,"cpus":0,"gpus":0,"memory":0,"environment":{"A":"\""},"heartbeat":0,)"
                  R"("on_failure":{"action":"restart","budget":2,"backoff":0.1}}],"nodes":[)"
                  R"({"name":"server","group":"server","index":0,"process":0,"calls":[]},)"
                  R"({"name":"caller","group":"caller","index":0,"process":1,"calls":["server"]}]})");
}

}  // namespace
}  // namespace plan_test
}  // namespace lp

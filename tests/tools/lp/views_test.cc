// A run described and drawn, the machine examined; the manual and the shell's completion.

#include "launchers/record/curves.h"
#include "lp/base/json_value.h"
#include "lp/gpu/toolkit.h"
#include "lp/program/progress.h"
#include "tests/lp/gpu/stand_in.h"
#include "tests/tools/lp/lp_fixture.h"
#include "tools/lp/command.h"
#include "tools/lp/plan_file.h"
#include "tools/lp/runs.h"

namespace lp::test {
namespace {

const std::string kManual = LP_SOURCE "/tools/lp/lp.1";

std::string self() { return std::filesystem::read_symlink("/proc/self/exe"); }

TEST_F(LpTest, DescribeTellsThePlanTheEventsAndTheFirstCause) {
  Subprocess program({"program", "--launch=processes", "--mode=throws once", "--restart"});
  EXPECT_EQ(program.wait().code, 0);
  const Ended good = lp("describe last");
  EXPECT_EQ(good.code, 0) << good.output;
  for (const char* text : {"succeeded after ", "--restart", "worker       2", "restart 2x",
                           "worker/1  failed      std::", "restart 1 of 2 in ", "worker/1  starting    incarnation 2",
                           "every node has finished"}) {
    EXPECT_TRUE(has(good.output, text)) << text << "\n" << good.output;
  }
  Subprocess fails({"program", "--launch=processes", "--mode=aborts"});
  EXPECT_EQ(fails.wait().code, 1);
  const Ended bad = lp("describe last");
  for (const char* text : {"FIRST CAUSE", "was killed by signal 6 (SIGABRT)", "about to abort"}) {
    EXPECT_TRUE(has(bad.output, text)) << text << "\n" << bad.output;
  }
  const JsonValue json = JsonValue::parse(lp("describe last --json").output);
  EXPECT_EQ(json.find("plan")->find("nodes")->items().size(), 3U);
  EXPECT_EQ(json.find("events")->items().back().find("kind")->text(), "ended");
}

TEST_F(LpTest, ARunInWhichNothingMovesAndAServiceThatTakesNoCallAreTold) {
  Subprocess still({"program", "--launch=processes", "--mode=waits", "--heartbeat=0.2"});
  EXPECT_TRUE(still.read_until("no node has made progress for "));
  setenv("COLUMNS", "120", 1);  // for the whole text in a line
  for (const char* shown : {"status last", "describe last"}) {
    const Ended said = lp(shown);
    EXPECT_TRUE(has(said.output, "these nodes wait: worker/0 in its run(); worker/1 in its run()")) << said.output;
  }
  EXPECT_TRUE(has(lp("describe last").output, "stalled")) << lp("describe last").output;
  EXPECT_EQ(lp("stop last").code, 0);
  still.wait();
  Subprocess hangs({"program", "--launch=processes", "--mode=hangs", "--heartbeat=3"});
  EXPECT_EQ(hangs.wait().code, 1);
  EXPECT_TRUE(has(lp("describe last").output, "; it has been in exclusive(), for ")) << lp("describe last").output;
}

TEST_F(LpTest, APlanIsReadBackAsItWas) {
  const Ended written = command("'" + self() + "' program --program=saving --dry-run --json");
  const std::string text = written.output.substr(0, written.output.find('\n'));
  EXPECT_EQ(to_json(tool::parse_plan(text)), text);
  EXPECT_THROW(tool::parse_plan(R"({"program":"x","groups":[],"nodes":[{"name":"a","group":"g"}]})"),
               tool::CommandError);
}

TEST_F(LpTest, AProgramAndALiveRunAreDrawn) {
  const Ended program = lp("graph " + self() + " program --workers=3");
  EXPECT_EQ(program.code, 0);
  EXPECT_TRUE(has(program.output, "× 3")) << program.output;
  const JsonValue json = JsonValue::parse(lp("graph " + self() + " program --workers=3 --json").output);
  EXPECT_EQ(json.find("plan")->find("nodes")->items().size(), 4U);
  EXPECT_EQ(json.find("edges")->items().size(), 1U);
  Subprocess run({"program", "--launch=processes", "--steps=1000000000"});
  wait_until_running();
  const Ended svg = lp("graph last --interval=0.2");
  EXPECT_EQ(svg.code, 0) << svg.output;
  EXPECT_TRUE(has(svg.output, "class=\"rate\"")) << svg.output;
  EXPECT_TRUE(has(svg.output, "/s")) << svg.output;
  EXPECT_TRUE(has(lp("graph last --dot --interval=0.2").output, "\"worker\" -> \"counter\" [label=\"")) << svg.output;
  const JsonValue live = JsonValue::parse(lp("graph last --json --interval=0.2").output);
  const JsonValue& edge = live.find("edges")->items().at(0);
  EXPECT_EQ(edge.find("caller")->text(), "worker");
  EXPECT_EQ(edge.find("callee")->text(), "counter");
  EXPECT_GT(from_json<double>(*edge.find("calls")->find("calls_per_second")), 0);
  EXPECT_EQ(lp("stop last").code, 0);
  run.wait();
  const Ended ended = lp("graph last --dot");
  EXPECT_TRUE(has(ended.output, "\"worker\" -> \"counter\";")) << ended.output;
  EXPECT_EQ(lp("graph last -o graph.png").code, 1);
}

TEST_F(LpTest, TheCurvesOfRunsAreDrawn) {
  for (const double loss : {1.0, 2.0}) {
    Subprocess run({"program", "--launch=processes"});
    EXPECT_EQ(run.wait().code, 0);
    EXPECT_TRUE(has(lp("plot last").output, "has no curves"));
    launch::Curves curves(tool::find_run("last").directory);
    for (std::uint64_t step = 1; step <= 10; ++step) {
      curves.add("worker/0", {.step = step, .values = {{"loss", loss}, {"<i>", 1}}});
      curves.add("worker/1", {.step = step, .values = {{"loss", loss}}});
    }
    EXPECT_EQ(curves.flush(), "");
  }
  const Ended one = lp("plot last");
  EXPECT_EQ(one.code, 0) << one.output;
  for (const char* text : {">loss</text>", ">&lt;i&gt;</text>", ">worker/0</text>", ">worker/1</text>"}) {
    EXPECT_TRUE(has(one.output, text)) << text << "\n" << one.output;
  }
  const std::vector<tool::RunLocation> all = tool::all_runs();
  const Ended both = lp("plot last," + all[1].name + " loss -o '" + runs().string() + "/a.svg' --json");
  EXPECT_EQ(both.code, 0) << both.output;
  EXPECT_TRUE(has(contents(runs() / "a.svg"), all[1].name + " worker/1</text>")) << contents(runs() / "a.svg");
  const JsonValue json = JsonValue::parse(both.output);
  ASSERT_EQ(json.items().size(), 4U);
  EXPECT_EQ(json.items()[0].find("points")->items().size(), 10U);
  EXPECT_EQ(from_json<double>(*json.items()[0].find("points")->items()[9].find("value")), 2);
  const Directory other;
  const std::filesystem::path copy = other.path() / "c" / all[1].name;
  std::filesystem::create_directory(other.path() / "c");
  std::filesystem::copy(all[0].directory, copy, std::filesystem::copy_options::recursive);
  const Ended same = lp("plot " + all[1].name + "," + copy.string() + " loss");
  for (const std::string folder : {"runs", "c"}) {
    EXPECT_TRUE(has(same.output, ">" + folder + "/" + all[1].name + " worker/1</text>")) << same.output;
  }
  const Ended wrong = lp("plot last los");
  EXPECT_EQ(wrong.code, 3);
  EXPECT_TRUE(has(wrong.output, "no node has reported the value \"los\"; did you mean loss?")) << wrong.output;
  const Ended other_word = lp("plot last accuracy");
  EXPECT_TRUE(has(other_word.output, "no node has reported the value \"accuracy\"; there is <i>, loss"))
      << other_word.output;
  EXPECT_EQ(lp("plot last -o a.png").code, 2);
  const Ended nowhere = lp("plot last -o /proc/none/x.svg");
  EXPECT_TRUE(has(nowhere.output, "/proc/none/x.svg cannot be written: there is no directory /proc/none"))
      << nowhere.output;
}

TEST_F(LpTest, AReportTellsARunAfterItsEnd) {
  Subprocess run({"program", "--launch=processes", "--steps=1000000000"});
  wait_until_running();
  while (from_json<double>(*JsonValue::parse(lp("report last --json").output).find("looks")) < 3) {
  }
  EXPECT_EQ(lp("restart last worker/1").code, 0);
  EXPECT_EQ(lp("stop last --reason='<b>enough</b>'").code, 0);
  run.wait();
  const JsonValue json = JsonValue::parse(lp("report last --json").output);
  EXPECT_EQ(json.find("nodes")->items().size(), 3U);
  ASSERT_FALSE(json.find("edges")->items().empty());
  EXPECT_EQ(json.find("edges")->items()[0].find("callee")->text(), "counter");
  EXPECT_GT(from_json<double>(*json.find("edges")->items()[0].find("calls")), 0);
  ASSERT_FALSE(json.find("ends")->items().empty());
  const Ended folder = lp("report last -o .");
  EXPECT_EQ(folder.code, 1);
  EXPECT_TRUE(has(folder.output, ". is a directory: name a file in it with --output")) << folder.output;
  const Ended late = lp("why last");
  EXPECT_EQ(late.code, 4);
  EXPECT_TRUE(has(late.output, "; this needs a run that goes on: `lp report " + json.find("run")->text() + "` tells"))
      << late.output;
  const Ended page = lp("report last -o '" + runs().string() + "/report.html'");
  EXPECT_EQ(page.code, 0) << page.output;
  const std::string text = contents(runs() / "report.html");
  for (const char* part : {"&lt;b&gt;enough&lt;/b&gt;", "<svg class=\"time\"", ">worker/1</text>", "The critical path",
                           "default-src 'none'", "restarting</td>", "prefers-color-scheme: dark"}) {
    EXPECT_TRUE(has(text, part)) << part;
  }
  EXPECT_FALSE(has(text, "<b>enough")) << text;
  EXPECT_FALSE(has(text, "<script")) << text;
}

TEST_F(LpTest, TheDoctorLooksAtTheMachine) {
  const Ended text = lp("doctor");
  EXPECT_TRUE(has(text.output, "open files")) << text.output;
  EXPECT_TRUE(has(text.output, (runs()).string().substr(0, 20))) << text.output;
  const JsonValue json = JsonValue::parse(lp("doctor --json").output);
  EXPECT_EQ(json.find("good")->boolean(), text.code == 0);
  setenv("XDG_STATE_HOME", "/proc/nowhere", 1);
  const Ended bad = lp("doctor");
  EXPECT_EQ(bad.code, 1);
  EXPECT_TRUE(has(bad.output, "set XDG_STATE_HOME to")) << bad.output;
  const Ended without = command("PATH=/nonexistent '" LP_COMMAND "' doctor");
  EXPECT_TRUE(has(without.output, "apt install gdb")) << without.output;
}

TEST_F(LpTest, TheDoctorTellsOfGpusAndOfWhatIsMissingToUseThem) {
  setenv("COLUMNS", "200", 1);
  const Ended none = command(
      "NVML_STAND_IN=/dev/null LD_LIBRARY_PATH=" + std::filesystem::path(GpuStandIn::library()).parent_path().string() +
      " '" LP_COMMAND "' doctor");
  EXPECT_TRUE(has(none.output, "NVML: nvmlInit: Driver Not Loaded")) << none.output;
  EXPECT_TRUE(has(none.output, "GPU driver: install the NVIDIA driver")) << none.output;
  EXPECT_TRUE(has(none.output, "there are no two GPUs")) << none.output;
  const std::string two =
      "gpu GPU-aa 85899345920 0 0 NVIDIA H100\n"
      "gpu GPU-bb 85899345920 0 0 NVIDIA H100\n";
  const GpuStandIn host("driver 580.95.05 13000\n" + two + "peers GPU-aa GPU-bb\n");
  const Ended some = lp("doctor");
  EXPECT_TRUE(has(some.output, "580.95.05, for CUDA 13.0 and older")) << some.output;
  EXPECT_TRUE(has(some.output, "2: NVIDIA H100 (80G), NVIDIA H100 (80G)")) << some.output;
  EXPECT_TRUE(has(some.output, "1 of 2 pairs copy directly (P2P)")) << some.output;
  EXPECT_TRUE(has(some.output, "`nvidia-smi topo -p2p r` says why")) << some.output;
  host.change("driver 470.10 11040\n" + two);
  const Ended old = lp("doctor");
  EXPECT_EQ(has(old.output, "install a driver for CUDA "), gpu::toolkit() / 1000 > 11) << old.output;
}

TEST_F(LpTest, TheDoctorNamesTheVersionOfNcclOrWhatIsMissing) {
  setenv("COLUMNS", "200", 1);
  const auto doctor = [&](const std::string& library) {
    return command("LD_LIBRARY_PATH=" + std::filesystem::path(library).parent_path().string() +
                   " '" LP_COMMAND "' doctor")
        .output;
  };
  EXPECT_TRUE(has(doctor(NCCL_WHOLE_LIBRARY), "2.27.3")) << doctor(NCCL_WHOLE_LIBRARY);
  for (const auto& [library, reason] :
       {std::pair(NCCL_OLD_LIBRARY, "libnccl.so.2 is NCCL 2.13.4: install 2.14.0 or a newer one"),
        std::pair(NCCL_PARTIAL_LIBRARY, "libnccl.so.2 has no function ncclCommInitRankConfig: ")}) {
    const std::string text = doctor(library);
    EXPECT_TRUE(has(text, reason)) << text;
    EXPECT_TRUE(has(text, "NCCL: apt install libnccl2: sums of a Collective over GPUs go through the memory")) << text;
  }
}

TEST_F(LpTest, TheShellCompletesCommandsFlagsRunsAndNodes) {
  Subprocess program({"program", "--launch=processes"});
  EXPECT_EQ(program.wait().code, 0);
  EXPECT_EQ(lp("complete st").output, "status\nstack\nstop\n");
  EXPECT_EQ(lp("complete stop --re").output, "--reason=\n");
  EXPECT_EQ(lp("complete status la").output, "last\n");
  EXPECT_TRUE(has(lp("complete status ''").output, "last\ncounting-")) << lp("complete status ''").output;
  EXPECT_EQ(lp("complete logs last worker").output, "worker\nworker/0\nworker/1\n");
  EXPECT_EQ(lp("complete logs nothing w").output, "");
  const Ended bash =
      command("PATH=$(dirname '" LP_COMMAND "'):$PATH bash -c '. " LP_SOURCE
              "/tools/lp/lp.bash; COMP_WORDS=(lp restart last worker/1); COMP_CWORD=3; _lp; echo ${COMPREPLY[@]}'");
  EXPECT_EQ(bash.output, "worker/1\n");
}

TEST(Manual, NamesEveryCommandFlagAndExitCode) {
  const std::string text = contents(kManual);
  for (const tool::Command& command : tool::commands()) {
    EXPECT_NE(text.find("lp " + std::string(command.name) + " "), std::string::npos) << command.name;
    for (const tool::Flag& flag : command.flags) {
      std::string name = "\\-\\-";
      for (const char c : flag.name) name += c == '-' ? "\\-" : std::string(1, c);
      EXPECT_NE(text.find(name), std::string::npos) << flag.name;
    }
  }
  for (int code = 0; code <= tool::code_of(tool::Exit::timed_out); ++code) {
    EXPECT_NE(text.find(".TP\n.B " + std::to_string(code) + "\n"), std::string::npos) << code;
  }
}

TEST(Manual, IsWellFormed) {
  if (command("command -v groff").code != 0) GTEST_SKIP() << "there is no groff";
  const Ended formatted = command("groff -man -Tutf8 -ww '" + kManual + "' >/dev/null");
  EXPECT_EQ(formatted.code, 0);
  EXPECT_EQ(formatted.output, "");
}

}  // namespace
}  // namespace lp::test

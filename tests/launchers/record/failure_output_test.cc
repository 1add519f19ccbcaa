#include "launchers/record/failure_output.h"

#include <gtest/gtest.h>

namespace lp::launch {
namespace {

using Lines = std::vector<std::string>;

Cause cause_of(const Lines& lines, ExitStatus exit = {.code = 1}) {
  Cause cause{.node = "worker/1", .what = describe(exit), .exit = exit};
  add_failure_output(lines, cause);
  return cause;
}

TEST(LastWords, AreTheLastLines) {
  Lines lines;
  for (int i = 0; i < 100; ++i) lines.push_back(std::to_string(i));
  const Cause cause = cause_of(lines);
  EXPECT_EQ(cause.what, "exited with code 1");
  EXPECT_EQ(cause.last_lines, Lines(lines.end() - 20, lines.end()));
  EXPECT_TRUE(cause.backtrace.empty());
}

TEST(LastWords, AreNotTheErrorItself) {
  const auto last_lines = [](Lines lines) {
    Cause cause{.node = "actor/0", .what = "step() threw:\nno map", .exit = {.code = 1}};
    add_failure_output(std::move(lines), cause);
    return cause.last_lines;
  };
  EXPECT_EQ(last_lines({"loading", "step() threw:", "no map"}), Lines{"loading"});
  EXPECT_EQ(last_lines({"step() threw:", "no map"}), Lines{});
  EXPECT_EQ(last_lines({"no map"}), Lines{"no map"});
  EXPECT_EQ(last_lines({"step() threw:", "no map", "bye"}), (Lines{"step() threw:", "no map", "bye"}));
}

TEST(LastWords, OfACrashAreWhatStandsBeforeItsBacktrace) {
  const Cause cause =
      cause_of({"going", "", "*** lp: worker/1: SIGSEGV, backtrace:", "a(_Z1fv+0x1)", "b"}, {.signal = 11});
  EXPECT_EQ(cause.last_lines, Lines{"going"});
  EXPECT_EQ(cause.backtrace, (Lines{"a(f()+0x1)", "b"}));
}

TEST(LastWords, OfACrashHaveTheAddressesInTheProgramsFile) {
  const Cause cause = cause_of(
      {"*** lp: worker/1: SIGSEGV, backtrace:", "*** lp: its program is loaded at 0x5000100 0x5000200 0x5000000",
       "prog(+0x1f0) [0x50001f0]", "prog(_Z1fv+0x1) [0x5000200]", "libc.so.6(+0x7) [0x7ff000]"},
      {.signal = 11});
  EXPECT_EQ(cause.backtrace,
            (Lines{"prog(+0x1f0) [+0x1f0]", "prog(f()+0x1) [0x5000200]", "libc.so.6(+0x7) [0x7ff000]"}));
}

TEST(LastWords, OfAStackThatHasOverflowedSaySo) {
  const Cause cause = cause_of({"*** lp: worker/1: SIGSEGV, stack overflow, backtrace:", "a", "b"}, {.signal = 11});
  EXPECT_EQ(cause.what, "was killed by signal 11 (SIGSEGV), stack overflow");
  EXPECT_EQ(cause.backtrace, (Lines{"a", "b"}));
}

const Lines kAddress{"going",
                     "=================================================================",
                     "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x60",
                     "READ of size 4 at 0x60 thread T3",
                     "    #0 0x5 in read_it a.cc:3",
                     "    #1 0x7 in main a.cc:9",
                     "",
                     "0x60 is located 0 bytes to the right of 16-byte region",
                     "allocated by thread T0 here:",
                     "    #0 0x7 in malloc",
                     "",
                     "SUMMARY: AddressSanitizer: heap-buffer-overflow a.cc:3 in read_it",
                     "Shadow bytes around the buggy address:",
                     "==7==ABORTING",
                     "",
                     "*** lp: worker/1: was stopped by a sanitizer; its report is above"};

TEST(LastWords, OfASanitizerAreItsSummaryAndItsFirstStack) {
  const Cause cause = cause_of(kAddress);
  EXPECT_EQ(cause.what, "exited with code 1: AddressSanitizer: heap-buffer-overflow a.cc:3 in read_it");
  EXPECT_EQ(cause.backtrace, (Lines{"    #0 0x5 in read_it a.cc:3", "    #1 0x7 in main a.cc:9"}));
  EXPECT_EQ(cause.last_lines, Lines{"going"});
}

TEST(LastWords, ASanitizerWithoutASummaryIsUnderstoodToo) {
  const std::string finding = "a.cc:3:30: runtime error: signed integer overflow: 2147483647 + 1";
  EXPECT_EQ(cause_of({"going", finding}).what, "exited with code 1: " + finding);
  EXPECT_EQ(cause_of({finding, "    #0 0x5 in f a.cc:3"}).backtrace, Lines{"    #0 0x5 in f a.cc:3"});
  EXPECT_EQ(cause_of({finding, "and it went on"}).what, "exited with code 1");
}

TEST(LastWords, WhatEndsANodeItselfIsItsCauseWhateverASanitizerFindsLater) {
  Cause cause{.node = "worker/1", .what = "std::runtime_error: no data", .exit = {.code = 1}};
  add_failure_output({"==7==ERROR: LeakSanitizer: detected memory leaks", "    #0 0x5 in f a.cc:3",
                      "SUMMARY: AddressSanitizer: 16 byte(s) leaked in 1 allocation(s)."},
                     cause);
  EXPECT_EQ(cause.what, "std::runtime_error: no data");
  EXPECT_TRUE(cause.backtrace.empty());
}

}  // namespace
}  // namespace lp::launch

#include "lp/base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/scheduler.h"
#include "tests/directory.h"
#include "tests/error_of.h"

namespace lp {
namespace {

using test::error_of;

class Files : public testing::Test {
 protected:
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
  }

  const test::Directory temporary_;
  const std::filesystem::path directory_ = temporary_.path();
};

std::string text_of(const Buffer& buffer) { return {reinterpret_cast<const char*>(buffer.data()), buffer.size()}; }

TEST_F(Files, AFileHoldsItsPartsOneBehindTheOther) {
  const std::string first = "one, ", second, third = "two";
  const std::vector<std::span<const std::byte>> parts{std::as_bytes(std::span(first)), std::as_bytes(std::span(second)),
                                                      std::as_bytes(std::span(third))};
  write_file_durably(directory_ / "a", parts);
  EXPECT_EQ(text_of(read_file(directory_ / "a", 100)), "one, two");
  EXPECT_EQ(names(), std::vector<std::string>{"a"});
}

TEST_F(Files, AFileIsReplaced) {
  write_file_durably(directory_ / "a", "a long first text");
  write_file_durably(directory_ / "a", "second");
  EXPECT_EQ(text_of(read_file(directory_ / "a", 100)), "second");
  write_file_durably(directory_ / "a", "");
  EXPECT_TRUE(read_file(directory_ / "a", 0).empty());
  EXPECT_EQ(names(), std::vector<std::string>{"a"});
}

TEST_F(Files, ALinkStaysAndTheFileBehindItIsReplacedWithItsMode) {
  std::filesystem::create_directory(directory_ / "there");
  write_file(directory_ / "there" / "a", "first");
  std::filesystem::permissions(directory_ / "there" / "a", std::filesystem::perms::owner_read);
  std::filesystem::create_symlink("there/a", directory_ / "link");
  std::filesystem::create_symlink("there/b", directory_ / "dangling");
  write_file(directory_ / "link", "second");
  write_file_durably(directory_ / "dangling", "third");
  EXPECT_TRUE(std::filesystem::is_symlink(directory_ / "link"));
  EXPECT_EQ(text_of(read_file(directory_ / "there" / "a", 100)), "second");
  EXPECT_EQ(std::filesystem::status(directory_ / "there" / "a").permissions(), std::filesystem::perms::owner_read);
  EXPECT_EQ(text_of(read_file(directory_ / "there" / "b", 100)), "third");
}

TEST_F(Files, APipeIsWrittenToAndADeviceStays) {
  const std::filesystem::path pipe = directory_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  write_file(pipe, "text");
  std::array<char, 100> bytes{};
  EXPECT_EQ(::read(reader, bytes.data(), bytes.size()), 4);
  ::close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  std::filesystem::create_symlink("/dev/full", directory_ / "full");
  for (const bool durably : {false, true}) {
    const std::string error = error_of(
        [&] { durably ? write_file_durably(directory_ / "full", "text") : write_file(directory_ / "full", "text"); });
    EXPECT_NE(error.find("No space left on device"), std::string::npos) << error;
  }
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST_F(Files, ARelativeNameIsOne) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(directory_);
  write_file_durably("a", "text");
  EXPECT_EQ(text_of(read_file("a", 4)), "text");
  std::filesystem::current_path(before);
}

TEST_F(Files, TheNextWriteTakesOverTheLeftoverOfAKilledProcess) {
  write_file(directory_ / ".a.tmp0", "the longer half");
  write_file_durably(directory_ / "a", "whole");
  EXPECT_EQ(text_of(read_file(directory_ / "a", 100)), "whole");
  EXPECT_EQ(names(), std::vector<std::string>{"a"});
}

TEST_F(Files, TheTemporaryFileOfALivingWriterAndALinkStay) {
  write_file(directory_ / ".a.tmp0", "half");
  write_file(directory_ / "other", "text");
  std::filesystem::create_symlink("other", directory_ / ".a.tmp1");
  std::filesystem::create_hard_link(directory_ / "other", directory_ / ".a.tmp2");
  ASSERT_EQ(mkfifo((directory_ / ".a.tmp3").c_str(), 0600), 0);
  const int writer = open((directory_ / ".a.tmp0").c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_EQ(flock(writer, LOCK_EX | LOCK_NB), 0);
  write_file_durably(directory_ / "a", "whole");
  close(writer);
  EXPECT_EQ(text_of(read_file(directory_ / "a", 100)), "whole");
  EXPECT_EQ(text_of(read_file(directory_ / ".a.tmp0", 100)), "half");
  EXPECT_EQ(text_of(read_file(directory_ / "other", 100)), "text");
  EXPECT_EQ(names(), (std::vector<std::string>{".a.tmp0", ".a.tmp1", ".a.tmp2", ".a.tmp3", "a", "other"}));
}

// Each writer has a temporary file of its own, also while another takes over what a killed process left.
TEST_F(Files, ManyWritersOfAFileMixNothing) {
  std::vector<Thread> writers;
  for (const char letter : {'b', 'c', 'd', 'e'}) {
    writers.push_back(spawn("writer", [this, letter] {
      for (int i = 0; i < 50; ++i) write_file(directory_ / "a", std::string(10'000, letter));
    }));
  }
  for (int i = 0; i < 50; ++i) {
    write_file(directory_ / "half", "half");
    std::error_code in_use;
    std::filesystem::create_hard_link(directory_ / "half", directory_ / (".a.tmp" + std::to_string(i % 4)), in_use);
    std::filesystem::remove(directory_ / "half");
    const std::string text = read_text_if_any(directory_ / "a", 20'000).value_or(std::string(10'000, 'b'));
    ASSERT_EQ(text, std::string(10'000, text[0]));
  }
  for (Thread& writer : writers) writer.join();
}

// A file that may not grow stands for a full disk: the path is the same with another error number.
TEST_F(Files, AFullDiskHarmsNothing) {
  write_file_durably(directory_ / "a", "the old text");
  const std::string large(100'000, 'x');
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 4096;
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string error = error_of([&] { write_file_durably(directory_ / "a", large); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(error, "cannot write " + (directory_ / "a").string() + ": File too large");
  EXPECT_EQ(text_of(read_file(directory_ / "a", 100)), "the old text");
  EXPECT_EQ(names(), std::vector<std::string>{"a"});
}

// From now on this process has no fsync, which ends with an error.
bool lose_fsync() {
  const std::array<sock_filter, 4> program{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fsync, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EIO),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog filter{.len = program.size(), .filter = const_cast<sock_filter*>(program.data())};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

// Bytes that the system has only in its memory never replace a file.
TEST_F(Files, AFileIsReplacedByWhatIsOnTheDiskAlready) {
  write_file_durably(directory_ / "a", "the old text");
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (!lose_fsync()) _exit(2);
    const std::string error = error_of([&] { write_file_durably(directory_ / "a", "the new text"); });
    _exit(error == "cannot write " + (directory_ / "a").string() + ": Input/output error" ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(text_of(read_file(directory_ / "a", 100)), "the old text");
  EXPECT_EQ(names(), std::vector<std::string>{"a"});
}

TEST_F(Files, ErrorsNameFileAndReason) {
  const auto missing = directory_ / "missing" / "a";
  EXPECT_EQ(error_of([&] { write_file_durably(missing, "x"); }),
            "cannot write " + missing.string() + ": No such file or directory");
  EXPECT_EQ(error_of([&] { read_file(missing, 1); }),
            "cannot read " + missing.string() + ": No such file or directory");
  EXPECT_EQ(error_of([&] { read_file(directory_, 1); }),
            "cannot read " + directory_.string() + ": it is not a regular file");
  EXPECT_EQ(error_of([&] { read_file("/dev/zero", 1); }), "cannot read /dev/zero: it is not a regular file");
  EXPECT_EQ(error_of([&] { write_file_durably(directory_, "x"); }),
            "cannot write " + directory_.string() + ": Is a directory");
  EXPECT_EQ(error_of([&] { sync_directory(missing); }),
            "cannot open " + missing.string() + ": No such file or directory");
  EXPECT_EQ(error_of([&] { write_file_durably("", "x"); }), "cannot write : the path names no file");
  EXPECT_FALSE(std::filesystem::exists(directory_.string() + ".tmp0"));
}

TEST_F(Files, AFileThatCouldNotBeWrittenLaterIsRefusedBefore) {
  const auto check = [](const std::filesystem::path& path) {
    return error_of([&] { check_output_file("--plot", path); });
  };
  write_file(directory_ / "a", "text");
  EXPECT_EQ(check(directory_ / "a"), "no error");
  EXPECT_EQ(check(directory_ / "b"), "no error");
  EXPECT_EQ(check("/dev/null"), "no error");
  EXPECT_EQ(names(), std::vector<std::string>{"a"});
  EXPECT_EQ(text_of(read_file(directory_ / "a", 100)), "text");

  const auto missing = directory_ / "missing" / "a";
  EXPECT_EQ(check(missing),
            "--plot: cannot write " + missing.string() + ": there is no directory " + missing.parent_path().string());
  EXPECT_EQ(check(directory_), "--plot: cannot write " + directory_.string() + ": Is a directory");
  EXPECT_EQ(check(directory_ / "a" / "b"), "--plot: cannot write " + (directory_ / "a" / "b").string() +
                                               ": there is no directory " + (directory_ / "a").string());
  EXPECT_NE(check("/proc/a"), "no error");
}

TEST_F(Files, ADirectoryThatCouldNotBeMadeLaterIsRefusedBefore) {
  const auto check = [](const std::filesystem::path& path) {
    return error_of([&] { check_output_directory("--snapshots", path); });
  };
  write_file(directory_ / "a", "text");
  EXPECT_EQ(check(directory_), "no error");
  EXPECT_EQ(check(directory_ / "b" / "c"), "no error");
  EXPECT_EQ(check("/there-is-no-such-place/of-this-host"), "no error");
  EXPECT_EQ(names(), std::vector<std::string>{"a"});
  for (const std::filesystem::path& path : {directory_ / "a", directory_ / "a" / "b" / "c"}) {
    EXPECT_EQ(check(path),
              "--snapshots: cannot make " + path.string() + ": " + (directory_ / "a").string() + " is no directory");
  }
  std::filesystem::create_symlink(directory_ / "b", directory_ / "link");
  EXPECT_EQ(check(directory_ / "link" / "c"), "--snapshots: cannot make " + (directory_ / "link" / "c").string() +
                                                  ": " + (directory_ / "link").string() + " is a link to nothing");
  EXPECT_NE(check("/proc/a"), "no error");
}

TEST_F(Files, ReadingIsBounded) {
  write_file_durably(directory_ / "a", "0123456789");
  EXPECT_EQ(error_of([&] { read_file(directory_ / "a", 9); }),
            "cannot read " + (directory_ / "a").string() + ": it has 10 bytes, but only 9 are allowed");
  const InputFile file(directory_ / "a");
  EXPECT_EQ(file.size(), 10u);
  EXPECT_EQ(text_of(file.read(2, 3)), "234");
  EXPECT_TRUE(file.read(10, 0).empty());
  EXPECT_NE(error_of([&] { file.read(8, 3); }), "no error");
  EXPECT_NE(error_of([&] { file.read(1, UINT64_MAX); }), "no error");
  std::filesystem::resize_file(directory_ / "a", 4);
  EXPECT_NE(error_of([&] { file.read(2, 8); }), "no error");
}

}  // namespace
}  // namespace lp

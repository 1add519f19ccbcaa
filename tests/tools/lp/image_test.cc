// lp image: the archive has all files that the program needs, and does not depend on when and where it was made.

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/tools/lp/lp_fixture.h"

namespace lp::test {
namespace {

class ImageTest : public LpTest {
 protected:
  std::string at(const std::string& name) const { return (directory_.path() / name).string(); }
  // The layer of an archive, as a folder.
  std::string unpacked(const std::string& archive) const {
    const Ended done = command("cd " + at(".") + " && mkdir layout root && tar -C layout -xf " + archive +
                               " && tar -C root -xf layout/$(sed 's/.*\"Layers\":\\[\"\\([^\"]*\\).*/\\1/' "
                               "layout/manifest.json)");
    EXPECT_EQ(done.code, 0) << done.output;
    return at("root");
  }

  const Directory directory_;
};

TEST_F(ImageTest, TheProgramRunsWithNothingButItsImage) {
  const Ended made = lp("image " LP_COMMAND " --tag=registry.example/lp:1 -o " + at("lp.tar"));
  ASSERT_EQ(made.code, 0) << made.output;
  EXPECT_EQ(made.output, at("lp.tar") + ": registry.example/lp:1\n");
  const std::string root = unpacked(at("lp.tar"));
  const std::string index = contents(at("layout/index.json"));
  EXPECT_TRUE(has(index, "\"io.containerd.image.name\":\"registry.example/lp:1\"")) << index;
  const std::string blobs = command("cat " + at("layout") + "/blobs/sha256/* | grep -a Entrypoint").output;
  EXPECT_TRUE(has(blobs, "\"User\":\"65532:65532\"")) << blobs;
  EXPECT_TRUE(has(blobs, "\"Entrypoint\":[\"/bin/lp\"]")) << blobs;
  EXPECT_EQ(command("cd " + at("layout/blobs/sha256") +
                    " && for f in *; do echo \"$f  $f\"; done | sha256sum -c - | grep -v OK")
                .output,
            "");
  std::string own_root = "env --ignore-environment PATH=\"$PATH\" unshare --user --map-root-user ";
#if defined(LP_SANITIZED)  // a sanitizer needs more than the image: /proc
  std::filesystem::create_directory(root + "/proc");
  own_root += "--pid --fork --mount-proc=" + root + "/proc ";
#endif
  const Ended ran = command(own_root + "chroot " + root + " /bin/lp help");
  if (ran.code != 0 && has(ran.output, "unshare: "))
    GTEST_SKIP() << "this system does not let its users have their own root";
  EXPECT_EQ(ran.code, 0) << ran.output;
  EXPECT_TRUE(has(ran.output, "lp image BINARY")) << ran.output;
}

TEST_F(ImageTest, TheSameFilesGiveTheSameBytes) {
  EXPECT_EQ(lp("image " LP_COMMAND " -o " + at("one.tar")).code, 0);
  EXPECT_EQ(lp("image " LP_COMMAND " -o " + at("two.tar")).code, 0);
  EXPECT_EQ(command("cmp " + at("one.tar") + " " + at("two.tar")).output, "");
}

TEST_F(ImageTest, WhatCannotBePackedIsSaid) {
  std::ofstream(at("text")) << "#!/bin/sh\n";
  const Ended text = lp("image " + at("text") + " -o " + at("x.tar"));
  EXPECT_EQ(text.code, 1);
  EXPECT_TRUE(has(text.output, "text is not a program")) << text.output;
  EXPECT_FALSE(std::filesystem::exists(at("x.tar")));

  // A binary for another kind of machine: the machine's number is in the bytes 18 and 19.
  ASSERT_EQ(command("cp " LP_COMMAND " " + at("other") + " && printf '\\363\\0' | dd of=" + at("other") +
                    " bs=1 seek=18 conv=notrunc")
                .code,
            0);
  for (const std::string& words :
       {"image " + at("other") + " -o " + at("x.tar"), "run " + at("other"), "graph " + at("other")}) {
    const Ended other = lp(words);
    EXPECT_EQ(other.code, 1) << words;
    EXPECT_TRUE(has(other.output, "other was built for another kind of machine than this one")) << other.output;
  }

  const Ended tag = lp("image " LP_COMMAND " --tag=Upper:1 -o " + at("x.tar"));
  EXPECT_EQ(tag.code, 2);
  EXPECT_TRUE(has(tag.output, "expected NAME:TAG")) << tag.output;
  EXPECT_EQ(lp("image " LP_COMMAND " -o /no/such/place.tar").code, 1);
}

}  // namespace
}  // namespace lp::test

// Outputs that would replace an input, or one another.

#include "programs/data/output_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "lp/base/file.h"
#include "tests/directory.h"
#include "tests/error_of.h"

namespace lp {
namespace {

TEST(OutputFiles, MayNotBeAnInputUnderWhateverName) {
  const test::Directory directory;
  const std::filesystem::path data = directory.path() / "data.csv", link = directory.path() / "link";
  write_file(data, "1,2\n");
  std::filesystem::create_symlink("data.csv", link);
  const std::vector<NamedFile> inputs{{"--data", data}, {"--test", ""}};
  for (const auto& path : {data, link, directory.path() / "." / "data.csv"}) {
    EXPECT_EQ(test::error_of([&] {
                check_outputs(std::vector<NamedFile>{{"--save", path}}, inputs);
              }),
              "--save: " + path.string() + " is also the file of --data, which would be replaced: give another file");
  }
  check_outputs(std::vector<NamedFile>{{"--save", directory.path() / "new"}, {"--curves", ""}}, inputs);
}

TEST(OutputFiles, MayNotBeOneAnother) {
  EXPECT_EQ(test::error_of([] {
              check_outputs(std::vector<NamedFile>{{"--save", "./none"}, {"--curves", "none"}}, {});
            }),
            "--curves: none is also the file of --save, which would be lost: give another file");
}

}  // namespace
}  // namespace lp

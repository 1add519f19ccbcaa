#include "programs/data/data.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <functional>
#include <vector>

#include "lp/base/error.h"
#include "tests/error_of.h"

namespace lp {
namespace {

using test::error_of;

std::string libsvm_error(std::string_view text) {
  return error_of([&] { parse_libsvm({text, "f"}); });
}

std::string big_endian(std::uint32_t x) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(x >> shift & 0xffU);
  return out;
}

std::string idx(const std::vector<std::uint32_t>& sizes, std::string_view values) {
  std::string out("\0\0\x08", 3);
  out += static_cast<char>(sizes.size());
  for (const std::uint32_t size : sizes) out += big_endian(size);
  return out.append(values);
}

const std::string kImages = idx({2, 1, 3}, std::string_view("\x00\x33\xff\x66\x00\x00", 6));
const std::string kLabels = idx({2}, "\x04\x01");

std::string idx_error(std::string_view images, std::string_view labels) {
  return error_of([&] { parse_idx({images, "images"}, {labels, "labels"}); });
}

TEST(Digits, AreWhole) {
  const Dataset data = digits();
  EXPECT_EQ(data.inputs(), 64);
  EXPECT_EQ(data.examples(), 1797);
  EXPECT_EQ(data.classes, 10);
  EXPECT_EQ(data.features.minCoeff(), -2);
  EXPECT_EQ(data.features.maxCoeff(), 2);
  EXPECT_EQ(data.labels.head(10), Eigen::VectorXi::LinSpaced(10, 0, 9));
  EXPECT_EQ(data.features(2, 0), 5 / 4.0F - 2);  // the third pixel of the first image
  EXPECT_EQ(data.labels(1796), 8);
}

TEST(Split, IsASeededShuffleInto80And20) {
  const Dataset data = digits();
  const Split a = split(data, 1);
  EXPECT_EQ(a.train.examples(), 1437);
  EXPECT_EQ(a.test.examples(), 360);
  EXPECT_EQ(a.train.features, split(data, 1).train.features);
  EXPECT_NE(a.train.features, split(data, 2).train.features);
  EXPECT_NE(a.train.labels.head(10), data.labels.head(10));
  EXPECT_EQ(a.train.features.sum() + a.test.features.sum(), data.features.sum());  // sums of quarters are exact
}

TEST(Gather, RefusesAnExampleThatIsNotThere) {
  EXPECT_THROW(gather(digits(), std::vector<std::uint32_t>{1797}), Error);
}

TEST(Idx, ReadsImagesAndLabels) {
  const Dataset data = parse_idx({kImages, "images"}, {kLabels, "labels"});
  Eigen::MatrixXf features(3, 2);
  features << 0, 0.4F, 0.2F, 0, 1, 0;
  EXPECT_TRUE(data.features.isApprox(features));
  EXPECT_EQ(data.labels, Eigen::Vector2i(4, 1));
  EXPECT_EQ(data.classes, 5);
}

TEST(Idx, RefusesWhatIsNotOne) {
  EXPECT_EQ(idx_error(kImages.substr(0, kImages.size() - 1), kLabels),
            "images, offset 16: expected 2 × 1 × 3 bytes of data, but 5 follow: the file is truncated");
  EXPECT_EQ(idx_error(kImages + "x", kLabels),
            "images, offset 16: expected 2 × 1 × 3 bytes of data, but 7 follow: the file is longer");
  EXPECT_EQ(idx_error(kLabels, kLabels),
            "images, offset 0: expected the magic number 00 00 08 03, IDX of unsigned bytes in 3 dimension(s)");
  EXPECT_EQ(idx_error("", kLabels), idx_error(kLabels, kLabels));
  EXPECT_EQ(idx_error(kImages.substr(0, 10), kLabels),
            "images, offset 4: expected 3 sizes of 4 bytes, but the file ends after 10 bytes");
  EXPECT_EQ(idx_error(kImages, idx({3}, "abc")),
            "images has 2 images, but labels has 3 labels; do the files belong together?");
  EXPECT_EQ(idx_error("\x1f\x8b\x08", kLabels), "images: is compressed; run gunzip on it first");
  EXPECT_EQ(idx_error(idx({0, 28, 28}, ""), idx({0}, "")), "images: has no images");
}

TEST(Idx, BelievesNoClaimedSize) {
  constexpr std::uint32_t kHuge = 0xffffffff;
  EXPECT_EQ(idx_error(idx({kHuge, kHuge, kHuge}, "abcd"), kLabels),
            "images, offset 16: expected 4294967295 × 4294967295 × 4294967295 bytes of data, but 4 follow: the file is "
            "truncated");
  // 2^32 × 2^32 is 0 in 64 bits.
  EXPECT_NE(idx_error(idx({1U << 31, 1U << 31, 4}, ""), kLabels), "no error");
}

// Every prefix and every changed byte gives an error or a dataset, never a crash.
TEST(Idx, SurvivesDamage) {
  for (std::size_t size = 0; size < kImages.size(); ++size) {
    EXPECT_NE(idx_error(kImages.substr(0, size), kLabels), "no error") << size;
  }
  for (std::size_t at = 0; at < 16; ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string damaged = kImages;
      damaged[at] = static_cast<char>(value);
      idx_error(damaged, kLabels);
    }
  }
}

TEST(Libsvm, ReadsSparseLines) {
  const Dataset data = parse_libsvm({"0 1:0.5 3:-2\n\n# a comment\n2\t2:1e-3 # another\r\n1\n", "f"});
  Eigen::MatrixXf features(3, 3);
  features << 0.5F, 0, 0, 0, 1e-3F, 0, -2, 0, 0;
  EXPECT_EQ(data.features, features);
  EXPECT_EQ(data.labels, Eigen::Vector3i(0, 2, 1));
  EXPECT_EQ(data.classes, 3);
}

TEST(Libsvm, MinusOneAndPlusOneAreTwoClasses) {
  const Dataset data = parse_libsvm({"-1 1:1\n+1 1:2", "f"});
  EXPECT_EQ(data.labels, Eigen::Vector2i(0, 1));
  EXPECT_EQ(data.classes, 2);
  EXPECT_EQ(data.names, signs());
  EXPECT_EQ(libsvm_error("-1 1:1\n1 1:1\n2 1:1\n"), "f:3: expected a label of −1 or +1, because other labels are −1");
}

TEST(Libsvm, AByteOrderMarkIsNoText) {
  EXPECT_EQ(parse_libsvm({"\xef\xbb\xbf"
                          "1 1:2\n0 1:1\n",
                          "f"})
                .labels,
            Eigen::Vector2i(1, 0));
}

TEST(Libsvm, NamesTheLineThatIsWrong) {
  EXPECT_EQ(libsvm_error("0 1:1\ncat 1:1\n"),
            "f:2: expected a label, a whole number from 0 to 65535 or −1, got \"cat\"");
  for (const char* label : {"1.5", "-2", "65536", "nan", "inf", "1e99", "+-1"}) {
    EXPECT_EQ(libsvm_error(std::string(label) + " 1:1"),
              "f:1: expected a label, a whole number from 0 to 65535 or −1, got \"" + std::string(label) + "\"");
  }
  for (const char* word : {"1", "1:", ":1", "1:x", "1:1x", "x:1", "-1:1", "1:2:3", "99999999999:1"}) {
    EXPECT_EQ(libsvm_error("0 " + std::string(word)), "f:1: expected index:value, got \"" + std::string(word) + "\"");
  }
  for (const char* word : {"1:nan", "1:inf", "1:-inf", "1:1e39"}) {
    EXPECT_EQ(libsvm_error("0 " + std::string(word)),
              "f:1: expected a value that fits a float, got \"" + std::string(word) + "\"");
  }
  EXPECT_EQ(libsvm_error("0 2:1 2:1"), "f:1: expected an index above 2, because indices ascend from 1, got \"2:1\"");
  EXPECT_EQ(libsvm_error("0 0:1"), "f:1: expected an index above 0, because indices ascend from 1, got \"0:1\"");
  EXPECT_EQ(libsvm_error("0 4000000000:1"),
            "f:1: 1 examples of 4000000000 features need more than 4 GiB, the limit of a dense dataset");
  EXPECT_EQ(libsvm_error(""), "f: has no example with a feature");
  EXPECT_EQ(libsvm_error("\n0\n"), "f: has no example with a feature");
}

std::string csv_error(std::string_view text) {
  return error_of([&] { parse_csv({text, "f"}); });
}

TEST(Csv, ReadsFeaturesAndALabel) {
  Eigen::MatrixXf features(2, 2);
  features << 1, 3, -2.5F, 4;
  for (const char* text :
       {"1,-2.5,0\n3,4,1\n", "a,b,class\n1, -2.5 ,0\r\n\n3,4,1", "\"a\",\"b, c\",class\n\"1\",-2.5,\"0\"\n3,4,1",
        "a;b;class\n1;-2.5;0\n3;4;1\n", "\xef\xbb\xbf\"a\";b;class\n1;\"-2.5\";0\n3;4;1\n"}) {
    const Dataset data = parse_csv({text, "f"});
    EXPECT_EQ(data.features, features) << text;
    EXPECT_EQ(data.labels, Eigen::Vector2i(0, 1)) << text;
    EXPECT_EQ(data.classes, 2);
    EXPECT_TRUE(data.names.empty());
  }
}

TEST(Csv, MinusOneAndPlusOneAreTwoClassesWithTheseNames) {
  const Dataset data = parse_csv({"1,-2.5,-1\n3,4,1\n", "f"});
  EXPECT_EQ(data.labels, Eigen::Vector2i(0, 1));
  EXPECT_EQ(data.names, (std::vector<std::string>{"-1", "1"}));
  EXPECT_EQ(parse_csv({"1,-1\n2,-1\n", "f"}).classes, 2) << "also if one of them does not occur";
}

TEST(Csv, ReadsNamesAsLabels) {
  const Dataset data = parse_csv({"width,kind\n1,virginica\n2,\"iris, setosa\"\n3,virginica\n", "f"});
  EXPECT_EQ(data.labels, Eigen::Vector3i(1, 0, 1));
  EXPECT_EQ(data.classes, 2);
  EXPECT_EQ(data.names, (std::vector<std::string>{"iris, setosa", "virginica"}));
  EXPECT_EQ(split(data, 0).train.names, data.names);
  EXPECT_EQ(csv_error("1,a\n2,3\n"), "f:2: expected a label that is a name, like those before, got \"3\"");
  EXPECT_EQ(csv_error("1,3\n2,a\n"), "f:2: expected a label that is a number, like those before, got \"a\"");
}

// A first line that begins like an example counts as an example, with a mistake.
TEST(Csv, LosesNoExample) {
  EXPECT_EQ(csv_error("1.0,,0\n1,2,0\n"), "f:1: the value of column 2 is missing");
  EXPECT_EQ(csv_error(",2,0\n1,2,0\n"), "f:1: the value of column 1 is missing");
  EXPECT_EQ(csv_error("1,2,\n1,2,0\n"), "f:1: the label is missing");
  EXPECT_EQ(csv_error("1,x,0\n1,2,0\n"), "f:1: expected a number in column 2, got \"x\"");
  EXPECT_EQ(csv_error("1e300,2,0\n"), "f:1: the number in column 1 does not fit a float: \"1e300\"");
  EXPECT_EQ(csv_error("1e400,0\n"), "f:1: the number in column 1 does not fit a float: \"1e400\"");
  EXPECT_EQ(csv_error("1,5;2;0\n"), "f:1: expected a number in column 1, got \"1,5\"");
  EXPECT_EQ(parse_csv({"\"1\",\"2\",\"0\"\n", "f"}).examples(), 1);
  EXPECT_EQ(csv_error("a,b,class\nc,d,class\n"), "f:2: expected a number in column 1, got \"c\"");
}

TEST(Csv, NamesTheLineThatIsWrong) {
  const std::string open =
      "a quote is not closed in this line: line breaks within quotes are not supported in training data";
  EXPECT_EQ(csv_error(""), "f: has no example");
  EXPECT_EQ(csv_error(std::string("1,2\0", 4)), "f: is not text: it has a zero byte");
  EXPECT_EQ(csv_error("a,b\n"), "f: has no example");
  EXPECT_EQ(csv_error("1\n"), "f:1: expected features and a label, got only one cell");
  EXPECT_EQ(csv_error("1,2,0\n\n1,0\n"), "f:3: expected 2 features and a label, got 2 cells");
  EXPECT_EQ(csv_error("1,\"2,0\n"), "f:1: " + open);
  EXPECT_EQ(parse_csv({"1,\"a \"\"q\"\"\"\n2,\"\"\"\"\n", "f"}).names, (std::vector<std::string>{"\"", "a \"q\""}));
  EXPECT_EQ(csv_error("1,\"2\"\",0\n"), "f:1: " + open);
  EXPECT_EQ(csv_error("1,2,a\n1,2,\"a\nb\"\n"), "f:2: " + open);
  EXPECT_EQ(csv_error("1,\"2\"3,0\n"), "f:1: expected the end of the cell after a quote, got \"3\"");
  EXPECT_EQ(csv_error("1,nan,0\n"), "f:1: expected a number in column 2, got \"nan\"");
  EXPECT_EQ(csv_error("1,-1\n2,1\n3,2\n"), "f:3: expected a label of −1 or +1, because other labels are −1");
  for (const char* label : {"1.5", "-2", "65536", "nan", "1e99"}) {
    EXPECT_EQ(csv_error("1," + std::string(label)),
              "f:1: expected a label, a name or a whole number from 0 to 65535 or −1, at the end, got \"" +
                  std::string(label) + "\"");
  }
}

TEST(Csv, MayHaveNoLabelsWhereTheyDoNotMatter) {
  for (const char* text : {"1,2\n3,4\n", "a,b\n1,2\n3,4\n", "1,2,x\n3,4,\n"}) {
    EXPECT_EQ(parse_csv({text, "f"}, 2).features.col(1), Eigen::Vector2f(3, 4)) << text;
  }
  EXPECT_EQ(error_of([] {
              parse_csv({"1,2,3,4\n", "f"}, 2);
            }),
            "f:1: expected 2 features and optionally a label, got 4 cells");
  EXPECT_EQ(error_of([] {
              parse_csv({"1\n", "f"}, 2);
            }),
            "f:1: expected 2 features and optionally a label, got 1 cells");
}

TEST(Libsvm, MayHaveMoreFeaturesThanAreWritten) {
  EXPECT_EQ(parse_libsvm({"1 2:3\n", "f"}, Storage::dense, 4).features, Eigen::Vector4f(0, 3, 0, 0));
  EXPECT_EQ(parse_libsvm({"1 2:3\n", "f"}, Storage::sparse, 4).inputs(), 4);
}

TEST(Files, AreOfTheFormatThatTheirNameOrFirstLineSays) {
  const auto labels = [](const std::string& name, const std::string& text) {
    const std::string path = testing::TempDir() + name;
    std::ofstream(path) << text;
    return load_data(path).labels;
  };
  EXPECT_EQ(labels("data_test.CSV", "1,4\n"), Eigen::VectorXi::Constant(1, 4));
  EXPECT_EQ(labels("data_test.txt", "a;b\n1;4\n"), Eigen::VectorXi::Constant(1, 4));
  EXPECT_EQ(labels("data_test.txt", "# a, comment\n4 1:1\n"), Eigen::VectorXi::Constant(1, 4));
  EXPECT_EQ(error_of([&] { labels("data_test.csv.gz", "\x1f\x8b"); }),
            testing::TempDir() + "data_test.csv.gz: is compressed; run gunzip on it first");
}

TEST(Files, AreReadFromDiskOrNamed) {
  const std::string path = testing::TempDir() + "data_test.libsvm";
  std::ofstream(path) << "1 2:3\n";
  EXPECT_EQ(load_libsvm(path).features, Eigen::Vector2f(0, 3));
  EXPECT_EQ(error_of([] { load_libsvm("/no/such/file"); }), "cannot read /no/such/file: No such file or directory");
  EXPECT_EQ(error_of([] { load_libsvm("/"); }), "cannot read /: it is not a regular file");
  EXPECT_EQ(error_of([] { load_idx("/no/such/file", "x"); }), "cannot read /no/such/file: No such file or directory");
  const std::string with_comma = testing::TempDir() + "data,test.csv";
  std::ofstream(with_comma) << "1,4\n";
  EXPECT_EQ(load_data(with_comma).labels, Eigen::VectorXi::Constant(1, 4));
  EXPECT_EQ(error_of([] { load_data("/no/such,file.csv"); }),
            "cannot read /no/such: No such file or directory (/no/such,file.csv with its comma is no file, so it names "
            "two IDX files: images,labels)");
}

}  // namespace
}  // namespace lp

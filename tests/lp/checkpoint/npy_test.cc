#include "lp/checkpoint/npy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lp/wire/eigen.h"
#include "tests/error_of.h"

namespace lp {
namespace {

Buffer buffer_of(const std::string& text) { return Buffer::copy_of(std::as_bytes(std::span(text))); }

// A file of format 1.0, whose head is padded as by numpy.save.
std::string npy(std::string dictionary, const std::string& bytes) {
  dictionary.resize(117, ' ');
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + dictionary + "\n" + bytes;
}

TEST(Npy, NumpyReadsTheHeadOfAFile) {
  Checkpoint checkpoint;
  checkpoint.put("number", 1.5);
  checkpoint.put("flags", Array<bool>(3));
  checkpoint.put("counts", std::vector<std::uint64_t>{1});
  checkpoint.put("by columns", Eigen::MatrixXd(2, 3));
  checkpoint.put("by rows", Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>(0, 7));
  for (const auto& [name, dictionary] : std::vector<std::pair<const char*, std::string>>{
           {"number", "{'descr': '<f8', 'fortran_order': False, 'shape': (), }"},
           {"flags", "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }"},
           {"counts", "{'descr': '<u8', 'fortran_order': False, 'shape': (1,), }"},
           {"by columns", "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }"},
           {"by rows", "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 7), }"}}) {
    const std::string head = npy_head(numbers_of(checkpoint, name));
    EXPECT_EQ(head.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
    EXPECT_EQ(head.size(), 10U + static_cast<unsigned char>(head[8]) + 256U * static_cast<unsigned char>(head[9]));
    EXPECT_EQ(head.size() % 64, 0U);
    EXPECT_EQ(head.substr(10, dictionary.size()), dictionary);
    EXPECT_EQ(head.find_first_not_of(' ', 10 + dictionary.size()), head.size() - 1);
    EXPECT_EQ(head.back(), '\n');
  }
}

TEST(Npy, AFileIsReadAgain) {
  Eigen::MatrixXd matrix(2, 3);
  matrix << 1, 2, 3, 4, 5, 6;
  Checkpoint checkpoint;
  checkpoint.put("number", 1.5);
  checkpoint.put("flags", Array<bool>::copy_of(std::array<bool, 3>{true, false, true}));
  checkpoint.put("counts", std::vector<std::uint64_t>{1, 1ULL << 63});
  checkpoint.put("none", std::vector<float>{});
  checkpoint.put("matrix", matrix);
  for (const CheckpointEntry& entry : checkpoint.entries()) {
    const StoredNumbers numbers = numbers_of(checkpoint, entry.name);
    std::string file = npy_head(numbers);
    file.append(reinterpret_cast<const char*>(numbers.bytes.data()), numbers.bytes.size());
    const StoredNumbers read = parse_npy(buffer_of(file));
    EXPECT_EQ(read.scalar, numbers.scalar);
    EXPECT_EQ(read.dimensions, numbers.dimensions);
    EXPECT_EQ(read.by_rows, numbers.by_rows);
    EXPECT_EQ(shape_text(read), shape_text(numbers));
    EXPECT_TRUE(std::ranges::equal(read.bytes.bytes(), numbers.bytes.bytes())) << entry.name;
  }
}

TEST(Npy, AFileThatIsSomethingElseIsRefused) {
  const std::string order = "'fortran_order': False, ";
  parse_npy(buffer_of(npy("{'descr': '<i2', " + order + "'shape': (2,), }", "abcd")));
  for (const auto& [file, problem] : std::vector<std::pair<std::string, std::string>>{
           {"", "does not begin like"},
           {std::string("\x93NUMPY\x02\x00\x76\x00\x00\x00", 12), "does not begin like"},
           {std::string("\x93NUMPY\x01\x00\xff\x00", 10), "head is longer"},
           {npy("{'descr': '>i2', " + order + "'shape': (2,), }", "abcd"), "\">i2\""},
           {npy("{'descr': '|O', " + order + "'shape': (2,), }", "abcd"), "\"|O\""},
           {npy("{'descr': [('a', '<i2')], " + order + "'shape': (2,), }", "abcd"), "head has no"},
           {npy("{'descr': '<i2', " + order + "'shape': (2, 1, 1), }", "abcd"), "3 dimensions"},
           {npy("{'descr': '<i2', " + order + "'shape': (x,), }", "abcd"), "(x,)"},
           {npy("{'descr': '<i2', " + order + "'shape': (3,), }", "abcd"), "4 bytes for i16 of shape (3,)"},
           {npy("{'descr': '<i2', " + order + "'shape': (9223372036854775809, 2), }", "abcd"), "4 bytes"},
           {npy("{'descr': '<i2', 'shape': (2, 1), }", "abcd"), "fortran_order"}}) {
    const std::string found = test::error_of([&, &file = file] { parse_npy(buffer_of(file)); });
    EXPECT_NE(found.find(problem), std::string::npos) << problem << ", not: " << found;
  }
}

}  // namespace
}  // namespace lp

#pragma once
// Labelled examples in memory, where they come from, and how they are split.
//
// Values; any number of threads may read one.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <Eigen/Core>
#include <Eigen/SparseCore>

namespace lp {

// Examples with a class each. Eigen aligns its own storage, so that no bit of what is computed from it depends on where
// in memory it lies; keep it so, and map no foreign memory.
struct Dataset {
  Eigen::MatrixXf features;  // inputs × examples: an example is a column, contiguous
  Eigen::VectorXi labels;    // per example, 0 .. classes − 1
  int classes = 0;
  Eigen::SparseMatrix<float> sparse{};  // the features, where there are none above: inputs × examples, by columns

  bool is_sparse() const { return sparse.cols() != 0; }
  Eigen::Index inputs() const { return is_sparse() ? sparse.rows() : features.rows(); }
  Eigen::Index examples() const { return labels.size(); }
};

// Whether missing values are kept. Only libsvm's format can be kept sparse without a dense copy on the way.
enum class Storage : std::uint8_t { dense, sparse };

// The UCI digits, which the library carries: 1,797 images of 8×8 pixels, row by row, scaled to
// [−2, 2], where networks initialized for inputs of variance near 1 learn well; 10 classes.
Dataset digits();

// Images and labels in the IDX format of MNIST (unsigned bytes in three dimensions and in one), pixels scaled to [0,
// 1]. Error::failed when a file can't be read, is not IDX, or its sizes do not match; it names file, offset and what
// was expected there.
Dataset load_idx(const std::string& images, const std::string& labels);

// A file in libsvm's format: a line is "label index:value ...", indexes ascending from 1; missing values are 0, blank
// lines are skipped, # starts a comment. Labels are whole numbers from 0, or −1 and +1, which become 0 and 1.
// Error::failed when a file can't be read or a line is none of that; it names file and line.
Dataset load_libsvm(const std::string& file, Storage storage = Storage::dense);

// A file of comma-separated numbers: a line is the features of an example, then its label, a whole number from 0. Blank
// lines are skipped, and so is a first line that is no numbers. Error::failed as above.
Dataset load_csv(const std::string& file);

// By name: "digits" are those that the library carries, "images,labels" two IDX files; else a file whose name ends in
// .csv, or in libsvm's format.
Dataset load_data(const std::string& name, Storage storage = Storage::dense);

// The same from bytes in memory; the names stand in errors.
struct Bytes {
  std::string_view bytes;
  std::string name;
};
Dataset parse_idx(const Bytes& images, const Bytes& labels);
Dataset parse_libsvm(const Bytes& text, Storage storage = Storage::dense);
Dataset parse_csv(const Bytes& text);

// The same examples with sparse features.
Dataset sparsified(const Dataset& data);

// Copies the named examples, in that order.
Dataset gather(const Dataset& data, std::span<const std::uint32_t> examples);

struct Split {
  Dataset train;
  Dataset test;
};

// Shuffles with the seed; the first 80 % (rounded down) train, the rest tests.
Split split(const Dataset& data, std::uint64_t seed);

}  // namespace lp

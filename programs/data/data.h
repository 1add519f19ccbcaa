#pragma once
// Labelled examples in memory, where they come from, and how they are split.
//
// Values; any number of threads may read one.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
  std::vector<std::string> names{};     // of the classes, ascending, where a file has names for them; else empty

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

// A file in libsvm's format, as below.
Dataset load_libsvm(const std::string& file, Storage storage = Storage::dense);

struct LoadOptions {
  Storage storage = Storage::dense;
  // Of the examples at least: libsvm's format does not write features that are 0.
  Eigen::Index inputs = 0;
  // CSV: a line has so many features, and no label or one that does not matter.
  bool features_only = false;
};

// By name: "digits" are those that the library carries, "images,labels" two IDX files; else a file of one of two
// formats. Its name ends in .csv or .CSV, or its first line has commas or semicolons: it is CSV. Else it is libsvm's.
//
// libsvm: a line is "label index:value ...", indexes ascending from 1; missing values are 0, blank lines are skipped,
// # starts a comment. CSV: a line is the features of an example, then its label, with commas or, where the first line
// has them, semicolons; a cell may stand in quotes, blank lines are skipped, and so is a first line of names.
//
// Labels are whole numbers from 0, or −1 and +1, which become 0 and 1; in CSV also names, whose classes ascend by name.
// Error::failed when a file can't be read or a line is none of that; it names file and line.
Dataset load_data(const std::string& name, const LoadOptions& options = {});

// The same from bytes in memory; the names stand in errors.
struct Bytes {
  std::string_view bytes;
  std::string name;
};
Dataset parse_idx(const Bytes& images, const Bytes& labels);
Dataset parse_libsvm(const Bytes& text, Storage storage = Storage::dense, Eigen::Index least_inputs = 0);
Dataset parse_csv(const Bytes& text, Eigen::Index unlabelled_inputs = 0);

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

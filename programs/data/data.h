#pragma once
// Labelled examples in memory, the readers of their files, and the split into training and test.
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

// Examples, each with a class. Eigen aligns its own storage, so that no bit of a result depends on where in memory the
// examples lie; keep it so, and map no foreign memory.
struct Dataset {
  Eigen::MatrixXf features;  // inputs × examples: an example is a column, contiguous
  Eigen::VectorXi labels;    // per example, 0 .. classes − 1
  int classes = 0;
  Eigen::SparseMatrix<float> sparse{};  // the features, if there are none above: inputs × examples, by columns
  std::vector<std::string> names{};     // names of the classes, ascending, if a file has names for them; else empty

  bool is_sparse() const { return sparse.cols() != 0; }
  Eigen::Index inputs() const { return is_sparse() ? sparse.rows() : features.rows(); }
  Eigen::Index examples() const { return labels.size(); }
};

// Whether zero features are stored. Only libsvm's format can be stored sparse without a dense copy on the way.
enum class Storage : std::uint8_t { dense, sparse };

// The UCI digits, which are part of the library: 1,797 images of 8×8 pixels, row by row, scaled to [−2, 2], where
// networks initialized for inputs of variance near 1 learn well; 10 classes.
Dataset digits();

// Images and labels in the IDX format of MNIST (unsigned bytes in three dimensions and in one), pixels scaled to [0,
// 1]. Error::failed when a file can't be read, is not IDX, or its sizes do not match. It names the file, the offset and
// the expected content.
Dataset load_idx(const std::string& images, const std::string& labels);

// A file in libsvm's format; see load_data().
Dataset load_libsvm(const std::string& file, Storage storage = Storage::dense);

struct LoadOptions {
  Storage storage = Storage::dense;
  // The least number of features of an example: libsvm's format does not write features that are 0.
  Eigen::Index inputs = 0;
  // CSV: a line has `inputs` features, and no label or one that does not matter.
  bool features_only = false;
};

inline constexpr std::string_view kBundledData = "digits";  // the name for load_data(); no file

// Loads data by name. "digits" are the digits of the library, and "images,labels" are two IDX files, if there is no
// file of this whole name. Any other name is a file of one of two formats. It is CSV if its name ends in .csv or .CSV,
// or if its first line has commas or semicolons. Else it is libsvm's format.
//
// libsvm: a line is "label index:value ...", indexes ascending from 1; missing values are 0, blank lines are skipped, #
// starts a comment. CSV: a line is the features of an example, then its label, separated by commas, or by semicolons if
// the first line has them. A cell may be in quotes, with a quote in it written twice, but no line break. Blank lines
// are skipped, and so is a first line of names.
//
// Labels are whole numbers from 0, or −1 and +1, which become the classes 0 and 1 with the names of signs(). In CSV
// labels may also be names; then the classes ascend by name. Error::failed when a file can't be read or a line does not
// fit the format; it names file and line.
Dataset load_data(const std::string& name, const LoadOptions& options = {});

// The same from bytes in memory; errors quote the names.
struct Bytes {
  std::string_view bytes;
  std::string name;
};
Dataset parse_idx(const Bytes& images, const Bytes& labels);
Dataset parse_libsvm(const Bytes& text, Storage storage = Storage::dense, Eigen::Index least_inputs = 0);
Dataset parse_csv(const Bytes& text, Eigen::Index unlabelled_inputs = 0);

// The names of the classes of labels that are −1 or +1: "-1" and "1".
std::vector<std::string> signs();

// The same examples with sparse features.
Dataset sparsified(const Dataset& data);

// Copies the named examples, in that order.
Dataset gather(const Dataset& data, std::span<const std::uint32_t> examples);

struct Split {
  Dataset train;
  Dataset test;
};

// Shuffles with the seed; the first 80 % (rounded down) are for training, the rest for testing.
Split split(const Dataset& data, std::uint64_t seed);

}  // namespace lp

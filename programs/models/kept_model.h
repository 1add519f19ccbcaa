#pragma once
// A model that a user keeps: a file with all data that its use needs. It is a checkpoint file
// (lp/checkpoint/checkpoint.md). Its entries, listed in programs/README.md, are plain numbers, arrays and texts.
//
// Values; pure functions.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "lp/base/array.h"
#include "lp/checkpoint/checkpoint.h"
#include "lp/kernels/queue.h"
#include "programs/data/data.h"
#include "programs/models/mlp.h"
#include "programs/models/model.h"

namespace lp {

enum class ModelKind : std::uint8_t { mlp, softmax, linear };

// Brings features to mean 0 and variance 1 over the examples that it was made from. For a feature with equal values, it
// only subtracts the mean. Mean and deviation are computed in double, and rounded.
struct Scaling {
  Eigen::VectorXf mean{};  // empty: features stay as they are
  Eigen::VectorXf factor{};

  bool empty() const { return mean.size() == 0; }
};
// Error::failed for sparse examples, which it would make dense, and for a feature whose factor would be no float: one
// with a deviation beyond about 1e-38 to 1e38. It names the feature, from 1.
Scaling scaling_of(const Dataset& data);
// Error::failed for sparse examples, and for a feature of an example that would become no finite float.
void scale(const Scaling& scaling, Dataset& data);

struct KeptModel {
  ModelKind kind = ModelKind::mlp;
  std::vector<Eigen::Index> units{};  // {inputs, hidden..., classes}
  Activation activation = Activation::tanh;
  std::vector<std::string> names{};  // names of the classes; empty: they are numbers
  Scaling scaling{};                 // scaling of the features
  std::uint64_t steps = 0;           // steps of all its trainings
  Eigen::VectorXf parameters{};

  Eigen::Index inputs() const { return units.front(); }
  int classes() const { return static_cast<int>(units.back()); }
};

// All of it except the parameters and the steps, as entries of a checkpoint.
Checkpoint describe(const KeptModel& model);
// Writes the file whole or not at all. Error::failed when it can't be written, or when read_model()
// would refuse it.
void write_model(const KeptModel& model, const std::filesystem::path& file);
// Error::failed, which names the fault of the file: truncated, damaged, newer, or not a model.
KeptModel read_model(const std::filesystem::path& file);
// Whether it is such a file, by its head and its index.
bool is_model_file(const std::filesystem::path& file);
// The bytes of a model's file, and the model of such bytes, whose errors quote `file`.
Buffer read_model_file(const std::filesystem::path& file);
KeptModel parse_model(const Buffer& bytes, const std::filesystem::path& file);

// The model alone. Error::failed when the units do not fit.
std::unique_ptr<Model> make_model(ModelKind kind, const std::vector<Eigen::Index>& units, Activation activation,
                                  const kernels::MakeQueue& make_queue = {});
// The same model, whose training starts from these parameters. Error::failed when their number does not fit.
std::unique_ptr<Model> starting_from(std::unique_ptr<Model> model, Eigen::VectorXf parameters);

// "an mlp of 64-32-10 units".
std::string to_string(ModelKind kind, const std::vector<Eigen::Index>& units);

// Converts the data's labels to these `classes` classes with these names. Error::failed for a class that is not among
// them; errors quote `source`.
void match_classes(Dataset& data, const std::vector<std::string>& names, int classes, const std::string& source);

// The examples of a data file as the model takes them, with labels of its classes. `features_only`: labels may be
// absent, and do not matter.
Dataset examples_for(const KeptModel& model, const std::string& data, Storage storage, bool features_only);

// The class of each example: its name, or number.
std::vector<std::string> predict(const KeptModel& model, const Dataset& examples);

}  // namespace lp

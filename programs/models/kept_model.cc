#include "programs/models/kept_model.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <utility>

#include "lp/base/enums.h"
#include "lp/base/error.h"
#include "lp/base/file.h"
#include "lp/base/text.h"
#include "programs/models/linear.h"
#include "programs/models/queue_model.h"

namespace lp {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kFormat = 1;
constexpr std::uint64_t kMaxModelBytes = std::uint64_t{64} << 30;
constexpr Eigen::Index kMaxWeights = Eigen::Index{1} << 48;  // weights of a layer
constexpr Eigen::Index kMaxModelClasses = 1 << 16;
constexpr std::size_t kMaxLayers = 1024;

Array<float> array_of(const Eigen::VectorXf& vector) {
  return Array<float>::copy_of({vector.data(), static_cast<std::size_t>(vector.size())});
}
Eigen::VectorXf vector_of(const Array<float>& values) {
  return Eigen::Map<const Eigen::VectorXf>(values.data(), static_cast<Eigen::Index>(values.size()));
}

template <NamedEnum E>
E named(const std::string& name, const char* what) {
  for (std::size_t i = 0; i < internal::kEnumerators<E>.count; ++i) {
    if (internal::kEnumerators<E>.names[i] == name) return static_cast<E>(i);
  }
  throw_failed("its " + std::string(what) + " is " + quote(name) + ", which this program does not know");
}

// Refuses entries with invalid contents.
void check(const KeptModel& model) {
  if (model.units.size() < 2 || model.units.size() > kMaxLayers) {
    throw_failed("it has " + std::to_string(model.units.size()) + " layers of units");
  }
  for (Eigen::Index before = 1; const Eigen::Index count : model.units) {
    if (count < 1 || count > kMaxWeights / before)
      throw_failed("it has a layer of " + std::to_string(count) + " units");
    before = count;
  }
  if (model.units.back() > kMaxModelClasses) throw_failed("it has " + std::to_string(model.units.back()) + " classes");
  if (const Eigen::Index size = make_model(model.kind, model.units, model.activation)->size();
      size != model.parameters.size()) {
    throw_failed("it has " + std::to_string(model.parameters.size()) + " parameters, but " +
                 to_string(model.kind, model.units) + " needs " + std::to_string(size));
  }
  if (!model.names.empty() && static_cast<Eigen::Index>(model.names.size()) != model.units.back()) {
    throw_failed("it has names for " + std::to_string(model.names.size()) + " of " +
                 std::to_string(model.units.back()) + " classes");
  }
  if (model.scaling.mean.size() != model.scaling.factor.size() ||
      (!model.scaling.empty() && model.scaling.mean.size() != model.inputs())) {
    throw_failed("its scaling does not fit its inputs");
  }
  if (!model.parameters.allFinite() || !model.scaling.mean.allFinite() || !model.scaling.factor.allFinite()) {
    throw_failed("it has numbers that are not finite");
  }
}

// The class of the wrapped model does not matter to a user: this one forwards all calls except initialize().
class StartingModel final : public Model {
 public:
  StartingModel(std::unique_ptr<Model> model, Eigen::VectorXf parameters)
      : model_(std::move(model)), parameters_(std::move(parameters)) {}

  Eigen::Index size() const override { return model_->size(); }
  Eigen::VectorXf initialize(std::uint64_t) const override { return parameters_; }
  Eigen::MatrixXf scores(const Eigen::VectorXf& parameters, const Eigen::MatrixXf& features) const override {
    return model_->scores(parameters, features);
  }
  Eigen::MatrixXf scores_of(const Eigen::VectorXf& parameters, const Dataset& data) const override {
    return model_->scores_of(parameters, data);
  }
  Array<std::uint64_t> rows(const Dataset& batch) const override { return model_->rows(batch); }
  Eigen::Index width() const override { return model_->width(); }
  double loss(const Eigen::VectorXf& parameters, const Dataset& batch, Eigen::VectorXf& gradient) const override {
    return model_->loss(parameters, batch, gradient);
  }

 private:
  const std::unique_ptr<Model> model_;
  const Eigen::VectorXf parameters_;
};

// Factors that are floats of full precision.
constexpr double kLeastFactor = std::numeric_limits<float>::min();
constexpr double kMostFactor = std::numeric_limits<float>::max();

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

[[noreturn]] void fail_to_scale(const Dataset& data, Eigen::Index feature, double deviation) {
  const auto values = data.features.row(feature);
  throw_failed("feature " + std::to_string(feature + 1) + " cannot be scaled: its values are from " +
               number_text(values.minCoeff()) + " to " + number_text(values.maxCoeff()) + ", and their deviation " +
               number_text(deviation) + " is not from " + number_text(1 / kMostFactor) + " to " +
               number_text(1 / kLeastFactor) + ": give this feature in another unit, or leave out --scale");
}

// For a difference or a product that is no finite float, though the result may be one.
float scaled_widely(const Scaling& scaling, Eigen::Index feature, float value) {
  const double mean = scaling.mean(feature);
  const double factor = scaling.factor(feature);
  const double scaled = (value - mean) * factor;
  if (std::abs(scaled) <= std::numeric_limits<float>::max()) return static_cast<float>(scaled);
  throw_failed("feature " + std::to_string(feature + 1) + " is " + number_text(value) +
               " in an example, too far from " + number_text(mean) + ", its mean in the training, for the factor " +
               number_text(factor) + " of its scaling: correct or remove this example");
}

}  // namespace

Scaling scaling_of(const Dataset& data) {
  if (data.is_sparse())
    throw_failed("scaling subtracts the mean, which makes sparse features dense: leave out --scale or --sparse");
  const auto count = static_cast<double>(data.examples());
  Eigen::VectorXd mean = Eigen::VectorXd::Zero(data.inputs());
  for (Eigen::Index i = 0; i < data.examples(); ++i) mean += data.features.col(i).cast<double>();
  mean /= count;
  Eigen::VectorXd squares = Eigen::VectorXd::Zero(data.inputs());  // those of all floats fit a double
  Eigen::Array<bool, Eigen::Dynamic, 1> varies = Eigen::Array<bool, Eigen::Dynamic, 1>::Zero(data.inputs());
  for (Eigen::Index i = 0; i < data.examples(); ++i) {
    squares += (data.features.col(i).cast<double>() - mean).cwiseAbs2();
    varies = varies || data.features.col(i).array() != data.features.col(0).array();
  }
  Scaling out{mean.cast<float>(), Eigen::VectorXf::Ones(data.inputs())};
  for (Eigen::Index i = 0; i < data.inputs(); ++i) {
    if (!varies(i)) continue;
    const double deviation = std::sqrt(squares(i) / count);
    const double factor = 1 / deviation;
    if (!(factor >= kLeastFactor && factor <= kMostFactor)) fail_to_scale(data, i, deviation);
    out.factor(i) = static_cast<float>(factor);
  }
  return out;
}

void scale(const Scaling& scaling, Dataset& data) {
  if (scaling.empty()) return;
  if (data.is_sparse()) throw_failed("the model needs scaled features, which are not sparse: leave out --sparse");
  Eigen::VectorXf scaled;
  for (Eigen::Index example = 0; example < data.examples(); ++example) {
    scaled = (data.features.col(example) - scaling.mean).cwiseProduct(scaling.factor);
    if (scaled.allFinite()) {
      data.features.col(example) = scaled;
      continue;
    }
    for (Eigen::Index i = 0; i < scaled.size(); ++i) {
      float& feature = data.features(i, example);
      feature = std::isfinite(scaled(i)) ? scaled(i) : scaled_widely(scaling, i, feature);
    }
  }
}

Checkpoint describe(const KeptModel& model) {
  Checkpoint out;
  out.put("model.format", kFormat);
  out.put("model.kind", std::string(enum_name(model.kind)));
  const std::vector<std::int64_t> units(model.units.begin(), model.units.end());
  out.put("model.units", Array<std::int64_t>::copy_of(units));
  out.put("model.activation", std::string(enum_name(model.activation)));
  out.put("model.names", model.names);
  out.put("model.mean", array_of(model.scaling.mean));
  out.put("model.factor", array_of(model.scaling.factor));
  return out;
}

void write_model(const KeptModel& model, const fs::path& file) {
  try {
    check(model);
  } catch (const Error& error) {
    throw_failed("the model is not written to " + file.string() + ": " + error.text());
  }
  Checkpoint out = describe(model);
  out.put("parameters", array_of(model.parameters));
  out.write(file, "model", model.steps);
}

bool is_model_file(const fs::path& file) {
  try {
    const CheckpointInfo info = Checkpoint::inspect(file);
    return std::any_of(info.entries.begin(), info.entries.end(),
                       [](const CheckpointEntry& one) { return one.name == "model.format"; });
  } catch (const Error&) {
    return false;
  }
}

Buffer read_model_file(const fs::path& file) { return read_file(file, kMaxModelBytes); }

KeptModel read_model(const fs::path& file) { return parse_model(read_model_file(file), file); }

KeptModel parse_model(const Buffer& bytes, const fs::path& file) {
  const Checkpoint in = Checkpoint::parse(bytes, file);
  if (!in.has("model.format")) {
    throw_failed(file.string() + " is a checkpoint of " + quote(in.node()) + ", not a saved model");
  }
  try {
    const auto format = in.get<std::uint32_t>("model.format");
    if (format > kFormat) {
      throw_failed("its format is version " + std::to_string(format) + ", but this program reads version " +
                   std::to_string(kFormat));
    }
    const auto units = in.get<Array<std::int64_t>>("model.units");
    KeptModel out{
        .kind = named<ModelKind>(in.get<std::string>("model.kind"), "kind"),
        .units = {units.begin(), units.end()},
        .activation = named<Activation>(in.get<std::string>("model.activation"), "activation"),
        .names = in.get<std::vector<std::string>>("model.names"),
        .scaling = {vector_of(in.get<Array<float>>("model.mean")), vector_of(in.get<Array<float>>("model.factor"))},
        .steps = in.step(),
        .parameters = vector_of(in.get<Array<float>>("parameters"))};
    check(out);
    return out;
  } catch (const Error& error) {
    throw_failed("cannot use the model " + file.string() + ": " + error.text());
  }
}

std::unique_ptr<Model> make_model(ModelKind kind, const std::vector<Eigen::Index>& units, Activation activation,
                                  const kernels::MakeQueue& make_queue) {
  const auto made = [&](auto model) -> std::unique_ptr<Model> {
    if (make_queue) return on_queue(make_queue, model);
    return std::make_unique<decltype(model)>(std::move(model));
  };
  if (kind == ModelKind::linear) return made(LinearModel(units.front(), static_cast<int>(units.back())));
  return made(Mlp(units, activation));
}

std::unique_ptr<Model> starting_from(std::unique_ptr<Model> model, Eigen::VectorXf parameters) {
  if (model->size() != parameters.size()) {
    throw_failed("a model of " + std::to_string(model->size()) + " parameters cannot start from " +
                 std::to_string(parameters.size()));
  }
  return std::make_unique<StartingModel>(std::move(model), std::move(parameters));
}

std::string to_string(ModelKind kind, const std::vector<Eigen::Index>& units) {
  std::vector<std::string> counts;
  for (const Eigen::Index count : units) counts.push_back(std::to_string(count));
  return (kind == ModelKind::mlp ? "an " : "a ") + std::string(enum_name(kind)) + " of " + join(counts, "-") + " units";
}

void match_classes(Dataset& data, const std::vector<std::string>& names, int classes, const std::string& source) {
  if (data.names == signs() && names.empty()) {
    if (classes != 2) {
      throw_failed(source + ": has labels −1 and +1, but the model has the classes 0 to " +
                   std::to_string(classes - 1));
    }
    data.names.clear();  // the model has them as 0 and 1
  }
  if (data.names.empty() && names == signs() && (data.labels.array() == 1).all()) data.names = names;
  if (data.names.empty() != names.empty()) {
    throw_failed(source + ": its labels are " + (names.empty() ? "names, not numbers" : "numbers, not names such as ") +
                 (names.empty() ? "" : quote(names.front())));
  }
  if (data.classes > classes && names.empty()) {
    throw_failed(source + ": has a label " + std::to_string(data.classes - 1) +
                 ", but there are only the classes 0 to " + std::to_string(classes - 1));
  }
  if (data.names != names) {
    std::vector<int> numbers;
    for (const std::string& name : data.names) {
      const auto found = std::find(names.begin(), names.end(), name);
      if (found == names.end())
        throw_failed(source + ": has a label " + quote(name) + ", which is not one of the model's classes");
      numbers.push_back(static_cast<int>(found - names.begin()));
    }
    for (int& label : data.labels) label = numbers[static_cast<std::size_t>(label)];
  }
  data.names = names;
  data.classes = classes;
}

Dataset examples_for(const KeptModel& model, const std::string& data, Storage storage, bool features_only) {
  Dataset out = load_data(data, {.storage = storage, .inputs = model.inputs(), .features_only = features_only});
  if (out.inputs() != model.inputs()) {
    const bool lacks_labels = !features_only && out.inputs() + 1 == model.inputs();
    throw_failed(data + ": has examples of " + std::to_string(out.inputs()) + " features, but the model takes " +
                 std::to_string(model.inputs()) + (lacks_labels ? ": are its labels missing?" : ""));
  }
  if (!features_only) match_classes(out, model.names, model.classes(), data);
  scale(model.scaling, out);
  return out;
}

std::vector<std::string> predict(const KeptModel& model, const Dataset& examples) {
  const auto made = make_model(model.kind, model.units, model.activation);
  const Eigen::MatrixXf scores = made->scores_of(model.parameters, examples);
  std::vector<std::string> out;
  for (Eigen::Index i = 0; i < scores.cols(); ++i) {
    Eigen::Index guess = 0;
    scores.col(i).maxCoeff(&guess);
    out.push_back(model.names.empty() ? std::to_string(guess) : model.names[static_cast<std::size_t>(guess)]);
  }
  return out;
}

}  // namespace lp

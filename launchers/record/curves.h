#pragma once
// The values, histograms and texts that nodes report, for TensorBoard: an event file for each node and start of the
// run, in curves/NODE/ of the run's directory. When one comes again for an earlier step than its last, because the node
// was restarted, it replaces what the node has from that step on. A file in curves/ itself has the hyperparameters of
// the run. The run continues when files cannot be written.
//
// A RunRecorder owns it. One thread uses it.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "launchers/record/event_records.h"

namespace lp {
struct Progress;

namespace launch {

class Curves {
 public:
  // A node's values fill so many bytes with each step that it reports. Behind them, half of the steps are left out, and
  // half of those that are left for each further quarter of this size. Its histograms and texts have as many bytes
  // of their own.
  static constexpr std::uint64_t kWholeBytes = std::uint64_t{4} << 20;
  static constexpr std::size_t kNames = 1000;          // a node has; values under further names are left out
  static constexpr std::size_t kNameBytes = 256;       // longer names are cut
  static constexpr std::size_t kBuffered = 256 << 10;  // bytes of a node that wait for flush(); it is called then

  // `directory` is that of the run; empty: nothing is written.
  explicit Curves(const std::filesystem::path& directory);

  // A value that comes again for the same step counts until the first is in the file.
  void add(const std::string& node, const Progress& progress);
  // Adds a record about the whole run.
  void add_session(const std::string& record);
  // Appends to the files. Returns a fault of which people should know, each kind once; empty: there is none.
  std::string flush();
  // After flush(): values that nodes have reported are in no file, because one could not be written.
  bool lost() const;

 private:
  // Values that are thinned out together.
  struct Part {
    std::map<std::string, EventValue> values{};  // those of the present step that are not in the buffer
    std::uint64_t stride = 1;                    // each name has one step in so many written
    std::uint64_t quota = kWholeBytes;
  };
  struct Name {
    std::uint64_t next = 0;   // the first step that has no value yet
    std::uint64_t steps = 0;  // that were reported
  };
  struct Curve {
    std::filesystem::path path{};  // empty: no file was begun
    bool restarts = true;          // the next step replaces what the files have from there on
    std::string buffer{};
    std::uint64_t size = 0;  // bytes in the file
    std::uint64_t step = 0;
    std::map<std::string, Name> names{};
    Part numbers{};
    Part others{};  // histograms and texts
  };

  void begin(const std::string& node, Curve& curve) const;
  static void go_back(Curve& curve, std::uint64_t step);
  void keep(const std::string& node, Curve& curve, Part& part, const std::string& name, EventValue value);
  static void encode(Curve& curve);
  static void encode(Curve& curve, Part& part);
  void append(Curve& curve);
  void note(bool& told, const std::string& fault);

  const std::filesystem::path directory_;
  std::map<std::string, Curve> curves_{};
  std::string fault_{};
  bool lost_ = false;
  bool told_write_ = false;
  bool told_names_ = false;
};

}  // namespace launch
}  // namespace lp

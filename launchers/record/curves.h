#pragma once
// The values that nodes report, as curves that TensorBoard reads: an event file for each node and start of the run, in
// curves/NODE/ of the run's directory. When a value comes again for an earlier step than its last, because the node was
// restarted, it replaces what the node has from that step on. A file in curves/ itself has the hyperparameters of the
// run. The run continues when files cannot be written.
//
// A RunRecorder owns it. One thread uses it.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace lp {
struct Progress;

namespace launch {

class Curves {
 public:
  // A node's file grows to this size with each step that it reports. Behind it, half of the steps are left out, and
  // half of those that are left for each further quarter of this size.
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

 private:
  struct Curve {
    std::filesystem::path path{};  // empty: no file was begun
    bool restarts = true;          // the next step replaces what the files have from there on
    std::string buffer{};
    std::uint64_t size = 0;  // bytes in the file
    std::uint64_t step = 0;
    std::map<std::string, double> values{};       // the values of this step that are not in the buffer
    std::map<std::string, std::uint64_t> next{};  // by name: the first step that has no value yet
    std::uint64_t steps = 0;                      // reported steps
    std::uint64_t stride = 1;                     // one step in so many is written
    std::uint64_t quota = kWholeBytes;
  };

  static std::string name_of(std::string name);
  void begin(const std::string& node, Curve& curve) const;
  static void go_back(Curve& curve, std::uint64_t step);
  static void encode(Curve& curve);
  void append(Curve& curve);
  void note(bool& told, const std::string& fault);

  const std::filesystem::path directory_;
  std::map<std::string, Curve> curves_{};
  std::string fault_{};
  bool told_write_ = false;
  bool told_names_ = false;
};

}  // namespace launch
}  // namespace lp

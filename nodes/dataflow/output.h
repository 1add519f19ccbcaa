#pragma once
// A reduce function writes its results through this: a part of the output, of one attempt, which nobody sees before it
// is whole. Owned by a task; one thread.

#include <array>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "nodes/dataflow/file_writer.h"

namespace lp {

class Output {
 public:
  explicit Output(dataflow::FileWriter& file) : file_(file) {}

  void write(std::string_view bytes) { file_.write(bytes); }
  void write(char c) { file_.write({&c, 1}); }
  // The shortest text that reads as the same number.
  template <class T>
    requires(std::integral<T> || std::floating_point<T>)
  void write(T number) {
    std::array<char, 32> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
    file_.write({text.data(), static_cast<std::size_t>(end - text.data())});
  }
  // Texts, characters and numbers, then a line end.
  template <class... Parts>
  void line(const Parts&... parts) {
    (write(parts), ...);
    write('\n');
  }
  // Adds to a counter of the job, which the result of the run shows.
  void count(std::string_view counter, std::uint64_t by = 1) { counts_[std::string(counter)] += by; }
  const std::map<std::string, std::uint64_t>& counts() const { return counts_; }

 private:
  dataflow::FileWriter& file_;
  std::map<std::string, std::uint64_t> counts_{};
};

}  // namespace lp

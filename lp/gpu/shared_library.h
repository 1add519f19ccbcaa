#pragma once
// A library that is looked up while the program runs, because not every machine has it. Its owner must not outlive it
// with functions from it; a resource that moves. Any thread.

#include <cstdint>
#include <memory>
#include <string>

namespace lp::gpu {

class SharedLibrary {
 public:
  // `name` is a path, or a name that the dynamic linker finds: "libnvidia-ml.so.1". Throws Error(failed) if the linker
  // does not find it, with the linker's reason. A library that starts threads of its own must stay in the process.
  enum class Unload : std::uint8_t { at_end, never };
  explicit SharedLibrary(const std::string& name, Unload unload = Unload::at_end);

  // Sets `function` to the function of that name, or to null when the library is too old to have it.
  template <class F>
  void find(const char* name, F*& function) const {
    function = reinterpret_cast<F*>(address(name));
  }
  // The same for a function that every version has. Throws Error(failed) when it is not there.
  template <class F>
  void get(const char* name, F*& function) const {
    find(name, function);
    if (function == nullptr) refuse(name);
  }

 private:
  struct Close {
    void operator()(void* library) const noexcept;
  };
  void* address(const char* name) const noexcept;
  [[noreturn]] void refuse(const char* name) const;

  std::string name_;
  std::unique_ptr<void, Close> library_;
};

}  // namespace lp::gpu

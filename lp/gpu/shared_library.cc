#include "lp/gpu/shared_library.h"

#include <dlfcn.h>

#include "lp/base/error.h"

namespace lp::gpu {

SharedLibrary::SharedLibrary(const std::string& name, Unload unload)
    : name_(name),
      library_(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | (unload == Unload::never ? RTLD_NODELETE : 0))) {
  if (library_ != nullptr) return;
  const char* reason = dlerror();
  throw_failed(reason == nullptr ? name + " cannot be loaded" : reason);
}

void SharedLibrary::Close::operator()(void* library) const noexcept { dlclose(library); }

void* SharedLibrary::address(const char* name) const noexcept { return dlsym(library_.get(), name); }

void SharedLibrary::refuse(const char* name) const {
  throw_failed(name_ + " has no function " + name + ": install a newer version");
}

}  // namespace lp::gpu

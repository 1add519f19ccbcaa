#pragma once
// Says what a thread works on, when a signal or exit() ends the process: the report of the failure has it. Owned by the
// code that does the work; one thread.

#include <unistd.h>

namespace lp {

class CrashNote {
 public:
  // Writes a line. It runs in the handler of a signal: it takes no memory and no lock.
  virtual void write_line(int fd) const noexcept = 0;

  // The note of this thread; null: none. A process that is forked has none.
  static const CrashNote* of_this_thread() noexcept { return slot().process == getpid() ? slot().note : nullptr; }
  // Whoever sets it resets it, while the note is there.
  static void set_of_this_thread(const CrashNote* note) noexcept {
    slot() = {.note = note, .process = getpid()};
    // exit() in a function of the user destroys the objects of its thread, and no handler of a signal runs.
    struct AtExit {
      ~AtExit() {
        if (const CrashNote* const last = of_this_thread(); last != nullptr) last->write_line(STDERR_FILENO);
      }
    };
    [[maybe_unused]] static thread_local AtExit at_exit;
  }

 protected:
  ~CrashNote() = default;

 private:
  struct Slot {
    const CrashNote* note = nullptr;
    pid_t process = 0;
  };
  static Slot& slot() noexcept {
    static thread_local Slot slot;
    return slot;
  }
};

}  // namespace lp

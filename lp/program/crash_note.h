#pragma once
// Says what a thread works on, when a signal kills the process: the report of the crash has it. Owned by the code that
// does the work; one thread.

namespace lp {

class CrashNote {
 public:
  // Writes a line. It runs in the handler of a signal: it takes no memory and no lock.
  virtual void write_line(int fd) const noexcept = 0;

  // The note of this thread; null: none. Whoever sets it resets it, while the note is there.
  static const CrashNote*& of_this_thread() noexcept {
    static thread_local const CrashNote* note = nullptr;
    return note;
  }

 protected:
  ~CrashNote() = default;
};

}  // namespace lp

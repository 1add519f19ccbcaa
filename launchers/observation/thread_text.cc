#include "launchers/observation/thread_text.h"

namespace lp::launch {
namespace {

constexpr std::size_t kMostFiles = 3;

// Not of a device, or of the kernel, as /dev/null is.
bool is_of_disk(const std::string& file) {
  return file.starts_with("/") && !file.starts_with("/dev/") && !file.starts_with("/proc/") &&
         !file.starts_with("/memfd:");
}

}  // namespace

bool is_stopped(const ThreadState& thread) { return thread.state == "T" || thread.state == "t"; }

std::string place_of(const ThreadState& thread) {
  if (thread.call.empty()) return "the kernel";
  const bool named = !thread.call.starts_with("system call ");
  return thread.call + (named ? "()" : "") + (thread.file.empty() ? "" : " of " + thread.file);
}

std::string files_text(const ThreadsById& threads) {
  std::string text;
  std::size_t files = 0;
  for (const auto& [id, thread] : threads) {
    if (!is_of_disk(thread->file) || ++files > kMostFiles) continue;
    text += "; its thread " + thread->name + " is in " + place_of(*thread);
  }
  if (files > kMostFiles) text += "; " + std::to_string(files - kMostFiles) + " more threads are in calls of files";
  return text;
}

// The file of an openat() is unknown, so it counts only when no thread is in a file of a checkpoint.
const ThreadState* checkpoint_writer(const ThreadsById& threads, const std::set<int>& known) {
  const ThreadState* opens = nullptr;
  for (const auto& [id, thread] : threads) {
    if (thread->file.find("/checkpoints/") != std::string::npos) return thread;
    if (opens == nullptr && thread->call == "openat" && !known.contains(id)) opens = thread;
  }
  return opens;
}

}  // namespace lp::launch

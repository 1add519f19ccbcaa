#pragma once
// On which record or key a task is, in a file that outlives its process. A function of the job may end the process, by
// SIGSEGV or exit() for instance. Then the next process of the worker reads there where that was, and reports it (Dean
// and Ghemawat: MapReduce, OSDI 2004, section 4.6). The report of a crash has it, too. A note costs one store for each
// record.
//
// Owned by a worker; one thread.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "lp/base/descriptor.h"
#include "lp/program/crash_note.h"
#include "nodes/mapreduce/work_messages.h"

namespace lp::dataflow {

class TaskNote final : public CrashNote {
 public:
  static constexpr std::size_t kLongestPlace = 3 << 10;  // bytes; longer places are not noted

  // Where a process has ended.
  struct LastPosition {
    std::uint64_t plan = 0;
    TaskKind kind = TaskKind::none;
    std::uint32_t task = 0;
    BadRecord record{};
    std::string text() const;  // "map, on the record at byte 8 of a.csv"
  };

  // Notes nothing that outlives the process.
  TaskNote();
  // In this file, which it makes. Where that is impossible, as on a full disk, it notes nothing that outlives the
  // process.
  explicit TaskNote(const std::filesystem::path& file);
  ~TaskNote();
  TaskNote(const TaskNote&) = delete;
  TaskNote& operator=(const TaskNote&) = delete;

  void begin(const WorkOrder& order);
  void end();  // in the same thread
  void write_line(int fd) const noexcept override;
  // The file, or the key.
  void set_place(std::string_view place);
  // The record in it; 0 for a key.
  void set_offset(std::uint64_t offset) { page_->offset.store(offset, std::memory_order_release); }

  // The place at which the process has ended that wrote the file; nothing when it was in no function of the job, or
  // there is no file.
  static std::optional<LastPosition> read(const std::filesystem::path& file);
  // The same; nothing while the process lives, or where the file system has no locks.
  static std::optional<LastPosition> read_of_dead(const std::filesystem::path& file);

 private:
  void be_nowhere();

  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};  // instead of an offset

  struct Page {
    std::uint64_t plan = 0;
    std::uint32_t task = 0;
    std::uint32_t kind = 0;
    std::atomic<std::uint64_t> offset{kNowhere};
    std::uint64_t size = 0;  // length of the place
    char place[kLongestPlace] = {};
  };
  static Page* map(const Descriptor& file);

  const Descriptor file_{};  // locked
  Page* const mapped_;       // null: no file
  Page own_{};
  Page* const page_;
};

}  // namespace lp::dataflow

#include "nodes/mapreduce/task_note.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "lp/base/text.h"

namespace lp::dataflow {

TaskNote::TaskNote() : mapped_(nullptr), page_(&own_) {}

TaskNote::TaskNote(const std::filesystem::path& file)
    : file_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)),
      mapped_(map(file_)),
      page_(mapped_ ? mapped_ : &own_) {}

TaskNote::~TaskNote() {
  // Without end() the thread would keep a note that is gone.
  if (of_this_thread() == this) set_of_this_thread(nullptr);
  if (mapped_ != nullptr) ::munmap(mapped_, sizeof(Page));
}

TaskNote::Page* TaskNote::map(const Descriptor& file) {
  // A hole would be filled by a later store, which a full disk turns into a signal.
  if (!file || ::posix_fallocate(file.number(), 0, sizeof(Page)) != 0) return nullptr;
  ::flock(file.number(), LOCK_EX | LOCK_NB);  // until this process ends
  void* const memory = ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
  return memory == MAP_FAILED ? nullptr : new (memory) Page();
}

void TaskNote::begin(const WorkOrder& order) {
  be_nowhere();
  page_->plan = order.plan;
  page_->task = order.task;
  page_->kind = static_cast<std::uint32_t>(order.kind);
  set_of_this_thread(this);
}

void TaskNote::end() {
  be_nowhere();
  set_of_this_thread(nullptr);
}

void TaskNote::be_nowhere() { page_->offset.store(kNowhere, std::memory_order_release); }

void TaskNote::write_line(int fd) const noexcept {
  const std::uint64_t offset = page_->offset.load();
  if (offset == kNowhere) return;
  const bool reduces = page_->kind == static_cast<std::uint32_t>(TaskKind::reduce);
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), offset).ptr;
  const auto put = [fd](std::string_view text) {
    [[maybe_unused]] const auto size = ::write(fd, text.data(), text.size());
  };
  put(reduces ? "lp: in reduce, on the key " : "lp: in map, on the record at byte ");
  if (!reduces) put({digits.data(), end});
  if (!reduces) put(" of ");
  put(page_->size <= kLongestPlace ? std::string_view(page_->place, page_->size) : "a name that is too long");
  put("\n");
}

void TaskNote::set_place(std::string_view place) {
  be_nowhere();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  page_->size = place.size();
  if (place.size() <= kLongestPlace) std::memcpy(page_->place, place.data(), place.size());
}

std::optional<TaskNote::LastPosition> TaskNote::read(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const auto page = std::make_unique<Page>();
  if (!file || ::pread(file.number(), page.get(), sizeof(Page), 0) != ssize_t{sizeof(Page)}) return std::nullopt;
  const auto kind = static_cast<TaskKind>(page->kind);
  const bool works = kind == TaskKind::sample || kind == TaskKind::map || kind == TaskKind::reduce;
  const std::uint64_t offset = page->offset.load();
  if (!works || offset == kNowhere || page->size > kLongestPlace) return std::nullopt;
  return LastPosition{.plan = page->plan,
                      .kind = kind,
                      .task = page->task,
                      .record = {.place = std::string(page->place, page->size), .offset = offset}};
}

std::optional<TaskNote::LastPosition> TaskNote::read_of_dead(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file || ::flock(file.number(), LOCK_SH | LOCK_NB) != 0) return std::nullopt;
  return read(path);
}

std::string TaskNote::LastPosition::text() const {
  if (kind == TaskKind::reduce) return "reduce, on the key " + quote(record.place);
  return "map, on the record at byte " + std::to_string(record.offset) + " of " + record.place;
}

}  // namespace lp::dataflow

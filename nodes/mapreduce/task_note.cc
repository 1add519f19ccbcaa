#include "nodes/mapreduce/task_note.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "lp/base/descriptor.h"

namespace lp::dataflow {

TaskNote::TaskNote() : mapped_(nullptr), page_(&own_) {}

TaskNote::TaskNote(const std::filesystem::path& file) : mapped_(map(file)), page_(mapped_ ? mapped_ : &own_) {}

TaskNote::~TaskNote() {
  if (mapped_ != nullptr) ::munmap(mapped_, sizeof(Page));
}

TaskNote::Page* TaskNote::map(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  // A hole would be filled by a later store, which a full disk turns into a signal.
  if (!file || ::posix_fallocate(file.number(), 0, sizeof(Page)) != 0) return nullptr;
  void* const memory = ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
  return memory == MAP_FAILED ? nullptr : new (memory) Page();
}

void TaskNote::begin(const WorkOrder& order) {
  end();
  page_->plan = order.plan;
  page_->task = order.task;
  page_->kind = static_cast<std::uint32_t>(order.kind);
}

void TaskNote::end() { page_->offset.store(kNowhere, std::memory_order_release); }

void TaskNote::set_place(std::string_view place) {
  end();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  page_->size = place.size();
  if (place.size() <= kLongestPlace) std::memcpy(page_->place, place.data(), place.size());
}

std::optional<TaskNote::LastPlace> TaskNote::read(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const auto page = std::make_unique<Page>();
  if (!file || ::pread(file.number(), page.get(), sizeof(Page), 0) != ssize_t{sizeof(Page)}) return std::nullopt;
  const auto kind = static_cast<TaskKind>(page->kind);
  const bool works = kind == TaskKind::sample || kind == TaskKind::map || kind == TaskKind::reduce;
  const std::uint64_t offset = page->offset.load();
  if (!works || offset == kNowhere || page->size > kLongestPlace) return std::nullopt;
  return LastPlace{.plan = page->plan,
                   .kind = kind,
                   .task = page->task,
                   .record = {.place = std::string(page->place, page->size), .offset = offset}};
}

}  // namespace lp::dataflow

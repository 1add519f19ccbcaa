#include "lp/rpc/shm/shm_reader.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "lp/base/error.h"
#include "lp/rpc/link/link.h"

namespace lp::rpc {
namespace {
[[noreturn]] void malformed(const char* what) {
  throw Error(ErrorKind::failed, std::string("malformed message: ") + what);
}
}  // namespace

bool ShmReader::next(Message& message) {
  for (;;) {
    switch (stage_) {
      case Stage::head:
        if (lane_.available(sizeof head_) < sizeof head_) return false;
        lane_.get(&head_, sizeof head_);
        if (head_.arrays > kMaxArrayFrames || head_.body > Link::kLargestFrame) malformed("its header is invalid");
        table_.resize(head_.arrays * sizeof(ArrayHead));
        stage_ = Stage::table;
        break;
      case Stage::table:
        if (lane_.available(table_.size()) < table_.size()) return false;
        lane_.get(table_.data(), table_.size());
        begin();
        stage_ = Stage::bytes;
        break;
      case Stage::bytes:
        if (!fill()) return false;
        stage_ = Stage::head;
        message = std::exchange(message_, {});
        return true;
    }
  }
}

void ShmReader::begin() {
  const std::byte* at = table_.data();
  part_ = done_ = 0;
  in_line_.clear();
  message_.body = Buffer::uninitialized(head_.body);
  for (std::uint64_t i = 0; i < head_.arrays; ++i, at += sizeof(ArrayHead)) {
    ArrayHead array;
    std::memcpy(&array, at, sizeof array);
    if (array.size > Link::kLargestFrame) malformed("an array is too large");
    if (array.offset == ArrayHead::kInline) {
      in_line_.push_back(message_.arrays.size());
      message_.arrays.push_back(Buffer::uninitialized(array.size));
    } else {
      if (array.size > heap_size_ || array.offset > heap_size_ - array.size) malformed("an array lies beyond the heap");
      message_.arrays.push_back(map_(array));
    }
  }
}

// Returns true when all parts are there.
bool ShmReader::fill() {
  while (part_ <= in_line_.size()) {
    Buffer& part = part_ == 0 ? message_.body : message_.arrays[in_line_[part_ - 1]];
    if (done_ < part.size()) {
      const std::size_t left = part.size() - done_;
      const std::size_t size = std::min(left, lane_.available(left));
      if (size == 0) return false;
      lane_.get(part.edit().data() + done_, size);
      done_ += size;
    } else {
      ++part_;
      done_ = 0;
    }
  }
  return true;
}

}  // namespace lp::rpc

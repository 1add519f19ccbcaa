#include "nodes/replay/columns.h"

#include <set>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/text.h"

namespace lp::replay {
namespace {

std::string text_of(Scalar type, std::size_t size) { return std::to_string(size) + " " + std::string(enum_name(type)); }

std::size_t rounded_up(std::size_t bytes, std::size_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace

std::size_t size_of(Scalar scalar) {
  switch (scalar) {
    case Scalar::i8:
    case Scalar::u8: return 1;
    case Scalar::i16:
    case Scalar::u16: return 2;
    case Scalar::f32:
    case Scalar::i32:
    case Scalar::u32: return 4;
    case Scalar::f64:
    case Scalar::i64:
    case Scalar::u64: return 8;
  }
  throw_failed("a column has the unknown type " + std::to_string(static_cast<int>(scalar)));
}

Layout::Layout(Columns columns) : columns_(std::move(columns)) {
  if (columns_.empty()) throw_failed("a step needs at least one column");
  std::set<std::string_view> names;
  for (const Column& one : columns_) {
    if (one.name.empty() || one.size == 0) throw_failed("a column needs a name and at least one value: " + text());
    if (!names.insert(one.name).second) throw_failed("two columns of a step have the name " + quote(one.name));
    row_bytes_ = rounded_up(row_bytes_, size_of(one.type));
    offsets_.push_back(row_bytes_);
    row_bytes_ += size_of(one.type) * one.size;
    if (row_bytes_ > kMostBytes) throw_failed("a step has more than 1 GiB: " + text());
  }
  row_bytes_ = rounded_up(row_bytes_, sizeof(std::uint64_t));
}

std::size_t Layout::find(std::string_view column, Scalar type) const {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].name != column) continue;
    if (columns_[i].type != type) {
      throw_failed("the column " + quote(column) + " has values of type " + std::string(enum_name(columns_[i].type)) +
                   ", but is used as " + std::string(enum_name(type)));
    }
    return i;
  }
  throw_failed("a step has no column " + quote(column) + "; it has " + text());
}

void Layout::check(std::size_t column, Scalar type, std::size_t count) const {
  if (column >= columns_.size()) {
    throw_failed("a step has " + std::to_string(columns_.size()) + " columns (" + text() +
                 "), but more values are given");
  }
  const Column& one = columns_[column];
  if (one.type == type && one.size == count) return;
  throw_failed("the column " + quote(one.name) + " has " + text_of(one.type, one.size) + " in a step, but " +
               text_of(type, count) + " are given: all steps of a table have the same shape");
}

std::string Layout::text() const {
  std::string text;
  for (const Column& one : columns_) {
    text += (text.empty() ? "" : ", ") + one.name + ": " + text_of(one.type, one.size);
  }
  return text;
}

}  // namespace lp::replay

#include "tools/lp/trace/rows.h"

#include <algorithm>
#include <tuple>

namespace lp::tool {
namespace {

// The slices of a row that go on, the inner ones last.
using SliceRow = std::vector<const Slice*>;

bool has_room(SliceRow& row, const Slice& slice) {
  while (!row.empty() && row.back()->end <= slice.begin) row.pop_back();
  return row.empty() || (row.back()->id == slice.parent && slice.end <= row.back()->end);
}

}  // namespace

void put_into_rows(std::vector<Slice>& slices) {
  std::stable_sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
    return std::tuple(a.begin, b.end) < std::tuple(b.begin, a.end);
  });
  std::vector<SliceRow> rows;
  for (Slice& slice : slices) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](SliceRow& one) { return has_room(one, slice); });
    slice.row = static_cast<std::size_t>(row - rows.begin());
    if (row == rows.end()) rows.emplace_back();
    rows[slice.row].push_back(&slice);
  }
}

}  // namespace lp::tool

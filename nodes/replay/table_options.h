#pragma once
// What a table of a replay server is. Values.
//
//   lp::replay::TableOptions table{.name = "transitions", .columns = columns};
//   table.max_items = 100'000;
//   table.sampler = lp::replay::Prioritized{.exponent = 0.6};
//   table.limits = lp::replay::sample_to_insert(/*ratio=*/8, /*items=*/1000, /*buffer=*/800);

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "nodes/replay/columns.h"
#include "nodes/replay/rate_limiter.h"
#include "nodes/replay/selector.h"
#include "nodes/replay/table_extension.h"

namespace lp::replay {

struct TableOptions {
  std::string name{};
  Columns columns{};
  std::uint64_t max_items = 1'000'000;  // the remover makes room for further ones
  std::uint64_t max_bytes = 0;          // bytes of the chunks that items refer to, likewise; 0: no limit
  std::uint32_t max_times_sampled = 0;  // an item that was sampled so often is removed; 0: no limit
  SelectorOptions sampler = Uniform{};
  SelectorOptions remover = Fifo{};
  RateLimits limits{};
  // Makes an extension, in the server's process; empty: none.
  std::function<std::unique_ptr<Extension>()> extension{};
};

// A queue: each item is sampled once, in the order of the inserts, and an insert waits while `items` items wait.
TableOptions queue_table(std::string name, Columns columns, std::uint64_t items);
// The same, but the item that was inserted last is sampled first.
TableOptions stack_table(std::string name, Columns columns, std::uint64_t items);

}  // namespace lp::replay

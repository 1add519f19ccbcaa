#include "nodes/replay/table_options.h"

#include <utility>

namespace lp::replay {

TableOptions queue_table(std::string name, Columns columns, std::uint64_t items) {
  TableOptions options{.name = std::move(name), .columns = std::move(columns), .max_items = items};
  options.max_times_sampled = 1;
  options.sampler = Fifo{};
  options.remover = Fifo{};
  options.limits = queue_of(items);
  return options;
}

TableOptions stack_table(std::string name, Columns columns, std::uint64_t items) {
  TableOptions options = queue_table(std::move(name), std::move(columns), items);
  options.sampler = Lifo{};
  options.remover = Lifo{};
  return options;
}

}  // namespace lp::replay

#include "nodes/replay/table_location.h"

#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/text.h"

namespace lp::replay {

TableLocation find_table(const Client<Server>& server, const std::string& table) {
  ServerInfo info = server.call<&Server::info>();
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < info.tables.size(); ++i) {
    if (info.tables[i].name == table) {
      return {.shard = info.shard, .number = i, .columns = std::move(info.tables[i].columns)};
    }
    names.push_back(info.tables[i].name);
  }
  throw Error(ErrorKind::failed, "a replay server has no table " + quote(table) + "; it has " + join(names, ", ") +
                                     did_you_mean(table, names));
}

std::uint32_t shard_of(std::uint64_t key) { return static_cast<std::uint32_t>(key >> Table::kShardShift); }

}  // namespace lp::replay
